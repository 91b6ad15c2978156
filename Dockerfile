# The image holds the binary, the certificates of public authorities and
# nothing else: no shell, no user but one, nothing to write to but /data.
#
#   docker build -t hindsight --build-arg VERSION="$(git describe --tags --always)" .
ARG GO_VERSION=1.26

FROM --platform=$BUILDPLATFORM golang:${GO_VERSION}-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH
ARG VERSION=dev
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH make build VERSION=$VERSION
# What the last stage copies: owners and modes come along.
RUN mkdir -p /image/etc/ssl/certs /image/data /image/tmp && \
    cp bin/hindsight /image/hindsight && \
    cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ && \
    echo 'hindsight:x:65532:65532::/data:/hindsight' >/image/etc/passwd && \
    echo 'hindsight:x:65532:' >/image/etc/group && \
    chmod 1777 /image/tmp && \
    chmod 0700 /image/data && chown 65532:65532 /image/data

FROM scratch
ARG VERSION=dev
LABEL org.opencontainers.image.title="Hindsight" \
      org.opencontainers.image.description="A memory for LLM applications: a proxy in front of a model API." \
      org.opencontainers.image.version=$VERSION \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /
ENV HINDSIGHT_LISTEN=0.0.0.0:8080 \
    HINDSIGHT_DATA_DIR=/data \
    HINDSIGHT_LOG_FORMAT=json
USER 65532:65532
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["/hindsight", "health"]
ENTRYPOINT ["/hindsight"]
CMD ["serve"]
