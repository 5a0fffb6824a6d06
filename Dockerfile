# The roles api and worker, in one image.

FROM golang:1.26.8-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
# The context has no git to ask.
ARG VERSION=devel
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X main.version=${VERSION}" -o /wakecall .

# One static program, for the health checks: the final image has no shell.
FROM busybox:1.37.0-musl AS tools

FROM scratch
COPY --from=tools /bin/wget /bin/wget
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /usr/local/go/lib/time/zoneinfo.zip /zoneinfo.zip
COPY --from=build /wakecall /wakecall
ENV ZONEINFO=/zoneinfo.zip
USER 65532:65532
ENTRYPOINT ["/wakecall"]
