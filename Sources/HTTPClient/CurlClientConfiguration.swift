/// The settings of a client. Every limit has a default.
package struct CurlClientConfiguration: Sendable {
    package enum HTTPVersion: Sendable {
        case http1
        /// HTTP/2 when TLS agrees on it, HTTP/1.1 otherwise.
        case http2Preferred
        /// As above, but a peer that agrees on anything else is refused before the request is written.
        case http2Required
        /// HTTP/2 without TLS (prior knowledge), for tests and local peers. One connection per request, since libcurl 7.88 cannot reuse them.
        case http2PriorKnowledge
    }

    /// The value of the metrics label `pool`.
    package var pool = "default"
    package var httpVersion = HTTPVersion.http2Preferred
    /// PEM file of the only certificate authorities to trust; nil means the system's.
    package var caFile: String?
    /// Proxy URL; nil means none, also if the environment names one.
    package var proxy: String?
    package var maxConnectionsPerHost = 16
    /// Over all hosts; 0 means no limit. Not with `http2Required`, where each origin has its own limit.
    package var maxConnections = 0
    /// The limit of concurrent streams on a connection; the peer's SETTINGS may lower it further.
    package var maxStreamsPerConnection = 100
    /// Concurrent requests on a connection before another one is opened; with `http2Required`.
    package var streamsBeforeNextConnection = 64
    /// A new connection carries one request until the peer has answered it, as APNs asks for with provider tokens; with `http2Required`.
    package var startsWithOneStream = false
    package var connectTimeout = Duration.seconds(10)
    /// How long an idle connection is kept for reuse. Apple asks for hours.
    var idleLifetime = Duration.seconds(3600)
    package var maxResponseBody = 1 << 20
    /// Concurrent transfers in libcurl; further requests wait.
    var maxInFlight = 4096

    package init() {}

    /// Whether the client itself pools HTTP/2 connections by origin; otherwise libcurl does.
    var isPooled: Bool { httpVersion == .http2Required }

    var connectionRules: ConnectionChoice.Rules {
        ConnectionChoice.Rules(
            maxConnections: maxConnectionsPerHost,
            maxStreams: maxStreamsPerConnection,
            spread: streamsBeforeNextConnection,
            startsWithOneStream: startsWithOneStream
        )
    }
}
