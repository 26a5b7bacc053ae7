package import HTTPClient
package import PushContract

/// An APNs credential and its endpoints.
package struct APNsConfiguration: Sendable {
    package var teamId: String
    package var keyId: String
    /// The content of the .p8 file.
    package var privateKey: String
    /// Base URL for each environment, without a slash at the end.
    package var endpoints: [PushEnvironment: String]
    /// Base URL of channel management for each environment; the same as `endpoints` except at Apple.
    package var channelEndpoints: [PushEnvironment: String]
    /// The limit of one request, from waiting for a connection to the last byte of the answer.
    package var timeout: Duration
    /// A topic that is disallowed on an older connection is tried once on a younger one. A wrong topic costs a new connection as often.
    package var trustedConnectionAge = Duration.seconds(600)

    package init(
        teamId: String,
        keyId: String,
        privateKey: String,
        endpoints: [PushEnvironment: String] = APNsConfiguration.apple,
        channelEndpoints: [PushEnvironment: String]? = nil,
        timeout: Duration = .seconds(20)
    ) {
        self.teamId = teamId
        self.keyId = keyId
        self.privateKey = privateKey
        self.endpoints = endpoints
        self.channelEndpoints =
            channelEndpoints
            ?? Dictionary(
                uniqueKeysWithValues: endpoints.map { environment, url in
                    (environment, url == APNsConfiguration.apple[environment] ? APNsConfiguration.appleChannels[environment] ?? url : url)
                }
            )
        self.timeout = timeout
    }

    package static let apple: [PushEnvironment: String] = [
        .production: "https://api.push.apple.com", .sandbox: "https://api.sandbox.push.apple.com",
    ]

    static let appleChannels: [PushEnvironment: String] = [
        .production: "https://api-manage-broadcast.push.apple.com:2196",
        .sandbox: "https://api-manage-broadcast.sandbox.push.apple.com:2195",
    ]

    /// The client Apple expects: connections kept for hours, up to the 1,000 streams APNs grants.
    package static var client: HTTP2ClientConfiguration {
        var configuration = HTTP2ClientConfiguration()
        configuration.pool = "apns"
        configuration.maxStreamsPerConnection = 1000
        configuration.startsWithOneStream = true
        return configuration
    }
}
