#!/usr/bin/env bash
# Builds the archives of a release, with checksums and a list of what is in each
# binary (CycloneDX), into dist/VERSION or the folder OUT.
#
#   deploy/release.sh VERSION [SYSTEM/PROCESSOR…]    all targets where none is named
#
# The same commit and the same Go give the same bytes. It needs Go, git, GNU tar
# and sha256sum.
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
time=$(git log -1 --format=%ct)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
GOBIN=$work go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

for target in "${targets[@]}"; do
  system=${target%/*} processor=${target#*/} suffix=
  [ "$system" != windows ] || suffix=.exe
  name=hindsight-$version-$system-$processor
  mkdir "$work/$name"
  CGO_ENABLED=0 GOOS=$system GOARCH=$processor go build -trimpath -ldflags "-s -w -X main.version=$version" \
    -o "$work/$name/hindsight$suffix" ./cmd/hindsight
  cp README.md README.zh-CN.md CHANGELOG.md LICENSE deploy/systemd/hindsight.* "$work/$name"
  "$work/cyclonedx-gomod" bin -json -noserial -version "$version" -output "$out/$name.cdx.json" "$work/$name/hindsight$suffix" 2>/dev/null
  tar -C "$work" --sort=name --mtime="@$time" --owner=0 --group=0 --numeric-owner --mode=go-w -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
  echo "$name"
done
(cd "$out" && sha256sum hindsight-"$version"-*.tar.gz hindsight-"$version"-*.cdx.json >SHA256SUMS)
echo "checksums are in $out/SHA256SUMS"
