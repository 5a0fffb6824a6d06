# The roles api and worker (target wakecall, the default), and everything in one
# process (target standalone). `make pin` writes the digests beside the tags.

FROM golang:1.26.8-alpine@sha256:8ac98ca534ac3f51e1f420a1dd2c15e74c75cfa0f23f3ad27eb5d7236c349a0c AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# The context has no git to ask.
ARG VERSION=devel
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -pgo=standalone/profile.pgo -ldflags="-w -X main.version=${VERSION}" -o /wakecall .

FROM build AS build-standalone
WORKDIR /src/standalone
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -pgo=profile.pgo -ldflags="-w -X main.version=${VERSION}" -o /wakecall-standalone . \
    && mkdir -m 700 /data

# One static program, for the health checks: the final images have no shell.
FROM busybox:1.37.0-musl@sha256:5cec3fc171c87218698e85a52af7087de727372aae264a787b8112901a5b0092 AS tools

FROM scratch AS base
COPY --from=tools /bin/wget /bin/wget
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /usr/local/go/lib/time/zoneinfo.zip /zoneinfo.zip
ENV ZONEINFO=/zoneinfo.zip
USER 65532:65532

FROM base AS standalone
COPY --from=build-standalone /wakecall-standalone /wakecall-standalone
COPY --from=build-standalone --chown=65532:65532 /data /data
VOLUME /data
# Without WAKECALL_API_KEYS or its file it does not start: it is not on loopback.
ENV WAKECALL_DATA_DIR=/data WAKECALL_HTTP_ADDR=0.0.0.0:8080 SQLITE_TMPDIR=/data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s CMD ["/bin/wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8080/livez"]
ENTRYPOINT ["/wakecall-standalone"]

FROM base AS wakecall
COPY --from=build /wakecall /wakecall
ENTRYPOINT ["/wakecall"]
