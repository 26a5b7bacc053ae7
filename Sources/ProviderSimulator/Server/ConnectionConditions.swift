/// How the simulator's connections behave, whatever is sent over them.
package struct ConnectionConditions: Sendable, Hashable, Codable {
    /// SETTINGS_MAX_CONCURRENT_STREAMS. 1,000 have been seen at APNs, 100 at FCM.
    package var maxStreams = 1000
    /// One stream until the first request of the connection was accepted, as APNs with provider tokens.
    package var oneStreamUntilAuthorised = false
    /// New connections get a certificate that has expired.
    package var expiredCertificate = false
    /// New connections must show a client certificate, which provider tokens do without: they end with a TLS alert.
    package var requiresClientCertificate = false
    /// New connections are closed before anything is read.
    package var refusesConnections = false

    package init(
        maxStreams: Int = 1000,
        oneStreamUntilAuthorised: Bool = false,
        expiredCertificate: Bool = false,
        requiresClientCertificate: Bool = false,
        refusesConnections: Bool = false
    ) {
        self.maxStreams = maxStreams
        self.oneStreamUntilAuthorised = oneStreamUntilAuthorised
        self.expiredCertificate = expiredCertificate
        self.requiresClientCertificate = requiresClientCertificate
        self.refusesConnections = refusesConnections
    }
}
