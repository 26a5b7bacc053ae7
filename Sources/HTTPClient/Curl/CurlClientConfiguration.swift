/// The settings of a client. Every limit has a default.
package struct CurlClientConfiguration: Sendable {
    package enum HTTPVersion: Sendable {
        case http1
        /// HTTP/2 when TLS agrees on it, HTTP/1.1 otherwise.
        case http2Preferred
    }

    /// The value of the metrics label `pool`.
    package var pool = "default"
    package var httpVersion = HTTPVersion.http2Preferred
    /// PEM file of the only certificate authorities to trust; nil means the system's.
    package var caFile: String?
    /// Proxy URL; nil means none, also if the environment names one.
    package var proxy: String?
    package var maxConnectionsPerHost = 16
    /// Over all hosts and groups, beyond one of each group; 0 means no limit.
    package var maxConnections = 0
    /// The limit of concurrent streams on a connection; the peer's SETTINGS may lower it further.
    package var maxStreamsPerConnection = 100
    package var connectTimeout = Duration.seconds(10)
    /// How long an idle connection is kept for reuse.
    var idleLifetime = Duration.seconds(3600)
    package var maxResponseBody = 1 << 20
    /// Concurrent transfers in libcurl; further requests wait.
    var maxInFlight = 4096

    package init() {}

    /// How many transfers of a group may begin. One may always be under way: groups that hang keep no other waiting.
    func free(running: Int, inGroup: Int) -> Int {
        let limit = maxConnections == 0 ? maxInFlight : min(maxInFlight, maxConnections)
        return max(inGroup == 0 ? 1 : 0, limit - running)
    }

    /// Connections that a group keeps. By default libcurl closes idle ones as transfers become fewer.
    var keptConnections: Int { maxConnections == 0 ? max(64, maxConnectionsPerHost * 4) : 4 }
}
