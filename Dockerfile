# docker build -t pushwatch . && docker compose up
FROM swift:6.3-bookworm AS build
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends \
    pkg-config libpq-dev libcurl4-openssl-dev libnghttp2-dev libssl-dev libsimdjson-dev zlib1g-dev libjemalloc-dev \
    libcmark-gfm-dev libcmark-gfm-extensions-dev
WORKDIR /src
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --static-swift-stdlib --product pushwatch \
    && strip -o /pushwatch "$(swift build -c release --static-swift-stdlib --product pushwatch --show-bin-path)/pushwatch"

FROM debian:bookworm-slim
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends ca-certificates curl libpq5 libcurl4 libnghttp2-14 libssl3 libsimdjson14 zlib1g libjemalloc2 \
    libcmark-gfm-extensions0.29.0.gfm.6 libstdc++6 tzdata \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 pushwatch
COPY --from=build /pushwatch /opt/pushwatch/bin/pushwatch
COPY sql /opt/pushwatch/sql
COPY alerts /opt/pushwatch/alerts
COPY live-activities /opt/pushwatch/live-activities
COPY matches /opt/pushwatch/matches
COPY docs /opt/pushwatch/docs
WORKDIR /opt/pushwatch
USER pushwatch
ENV PUSHWATCH_HTTP_HOST=0.0.0.0 PUSHWATCH_LOG_FORMAT=json
EXPOSE 8080
# By the environment's settings, not those of a YAML file; the certificate is for another name than this address.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
    CMD curl -fsSk "http${PUSHWATCH_HTTP_TLS_CERTIFICATE_FILE:+s}://127.0.0.1:${PUSHWATCH_HTTP_PORT:-8080}/health" || exit 1
ENTRYPOINT ["/opt/pushwatch/bin/pushwatch"]
CMD ["serve", "--migrate"]
