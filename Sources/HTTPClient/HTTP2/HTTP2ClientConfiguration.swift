/// The settings of an HTTP/2 client. Every limit has a default.
package struct HTTP2ClientConfiguration: Sendable {
    /// The value of the metrics label `pool`.
    package var pool = "default"
    /// PEM file of the only certificate authorities to trust; nil means the system's.
    package var caFile: String?
    /// PEM file of a certificate chain and its key, for peers that ask for one.
    package var clientCertificateFile: String?
    /// `http://[user:password@]host[:port]` of a proxy that opens tunnels; nil means none, also if the environment names one.
    package var proxy: String?
    package var maxConnectionsPerHost = 16
    /// The limit of concurrent streams on a connection; the peer's SETTINGS may lower it further.
    package var maxStreamsPerConnection = 100
    /// Concurrent requests on a connection before another one is opened.
    package var streamsBeforeNextConnection = 64
    /// A new connection carries one request until the peer has answered it, as APNs requires with provider tokens.
    package var startsWithOneStream = false
    /// From the look-up of the name to the peer's SETTINGS.
    package var connectTimeout = Duration.seconds(10)
    /// A connection with requests on which nothing arrived for so long is checked by PING: so its loss is detected, and
    /// its requests fail, before their time is over.
    package var pingInterval = Duration.seconds(5)
    /// Without an answer to a PING in this time the connection is lost.
    package var pingTimeout = Duration.seconds(5)
    /// A connection without requests that was silent for longer must answer a PING before it takes one.
    package var trustedSilence = Duration.seconds(30)
    /// How long a connection without requests is kept. Apple recommends hours.
    package var idleLifetime = Duration.seconds(3600)
    /// A connection of this age takes no further requests.
    package var maxAge = Duration.seconds(86_400)
    /// Longer bodies of answers are cut off.
    package var maxResponseBody = 1 << 20
    /// Answers with more header fields, counted as RFC 9113 §6.5.2 does, are refused.
    package var maxHeaderBytes = 1 << 16

    package init() {}

    /// Whether `proxy` may be this.
    package static func isProxy(_ url: String) -> Bool { (try? HTTPProxy(url)) != nil }

    var connectionRules: ConnectionChoice.Rules {
        ConnectionChoice.Rules(maxConnections: maxConnectionsPerHost, spread: streamsBeforeNextConnection)
    }
}
