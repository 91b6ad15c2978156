#!/usr/bin/env bash
# Builds the archives of a release (zip for Windows), with checksums and a list of
# what is in each binary (CycloneDX), into dist/VERSION or the folder OUT.
#
#   deploy/release.sh VERSION [SYSTEM/PROCESSOR…]    all targets where none is named
#
# The same commit and the same Go give the same bytes. It needs Go, git, gzip, GNU
# sed and sha256sum.
set -euo pipefail
cd "$(dirname "$0")/.."
version=${1:?name the version, such as v1.2.3}
shift
[[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || { echo "$version isn't a version such as v1.2.3"; exit 2; }
targets=("$@")
[ $# -gt 0 ] || targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)
out=${OUT:-dist/$version}
mkdir -p "$out"
out=$(cd "$out" && pwd)
made=$(TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
GOBIN=$work go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

# archive OPTION…: packs files, and what is to be read, in a folder of their own.
archive() {
  git -c tar.umask=022 archive --prefix="$name/" "${files[@]/#/--add-file=}" "$@" \
    HEAD README.md README.zh-CN.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE docs
}

for target in "${targets[@]}"; do
  system=${target%/*} processor=${target#*/} suffix=
  [ "$system" != windows ] || suffix=.exe
  name=hindsight-$version-$system-$processor
  mkdir "$work/$name"
  CGO_ENABLED=0 GOOS=$system GOARCH=$processor go build -trimpath -ldflags "-s -w -X main.version=$version" \
    -o "$work/$name/hindsight$suffix" ./cmd/hindsight
  "$work/cyclonedx-gomod" bin -json -noserial -version "$version" -output "$out/$name.cdx.json" "$work/$name/hindsight$suffix" 2>/dev/null
  sed -i "s/\"timestamp\": \"[^\"]*\"/\"timestamp\": \"$made\"/" "$out/$name.cdx.json"
  files=("$work/$name/hindsight$suffix")
  [ "$system" != linux ] || files+=(deploy/systemd/hindsight.*)
  if [ "$system" = windows ]; then
    TZ=UTC archive --format=zip -9 -o "$out/$name.zip"
  else
    archive --format=tar | gzip -n9 >"$out/$name.tar.gz"
  fi
  echo "$name"
done
(cd "$out" && sha256sum hindsight-"$version"-* >SHA256SUMS)
echo "checksums are in $out/SHA256SUMS"
