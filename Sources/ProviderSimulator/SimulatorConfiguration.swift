package import PushContract

/// How a simulator is set up. Everything has a default but the directory.
package struct SimulatorConfiguration: Sendable {
    /// The address to listen on.
    package var host = "127.0.0.1"
    /// 0: a free one.
    package var apnsPort = 0
    /// FCM and the token endpoint. 0: a free one.
    package var fcmPort = 0
    /// The control port, plain HTTP. 0: a free one.
    package var controlPort = 0
    /// Where `simulator-ca.pem` is written; made when missing.
    package var directory: String
    /// nil: new ones at start; see `ProviderSimulator.credentials`.
    package var credentials: SimulatorCredentials?
    /// APNs keys it trusts besides that of `credentials`, as Apple does while a team replaces one.
    package var furtherKeys: [APNsSigningKey] = []
    /// Keys of Google service accounts it trusts besides that of `credentials`.
    package var furtherAccounts: [GoogleServiceAccount] = []
    /// The bundle identifiers the APNs key may push to; nil: any.
    var bundles: Set<String>?
    /// Which of Apple's hosts to play.
    package var environment = APNsEnvironment.sandbox
    /// Of the dice that decide which requests a fault hits.
    package var seed: UInt64 = 1
    /// How many requests can be read back.
    package var keptRequests = 10_000
    /// Broadcast channels an app may have.
    package var channelLimit = 10_000
    /// How long Google's access tokens are good for, in seconds.
    var accessTokenLifetimeSeconds = 3599
    /// The names and IPv4 addresses in the server certificate.
    var certificateNames = ["localhost", "127.0.0.1"]
    package var now: @Sendable () -> Timestamp = { Timestamp.now() }
    /// Waits out `delayMs`.
    package var clock: any Clock<Duration> = ContinuousClock()

    package init(directory: String) {
        self.directory = directory
    }
}
