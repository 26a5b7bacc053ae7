package import HTTPClient

/// The credential of an FCM project and its endpoints.
package struct FCMConfiguration: Sendable {
    /// The content of the service account's JSON key file.
    package var serviceAccount: String
    /// Base URL, without a slash at the end.
    package var endpoint: String
    /// The project to send in; nil: the service account's own.
    package var projectId: String?
    /// The token endpoint, also the audience of the assertion; nil: the one of the key file.
    package var tokenURL: String?
    /// The limit of one request, from waiting for a connection to the last byte of the answer. Google asks for at least 10 s.
    package var timeout: Duration

    package init(
        serviceAccount: String,
        endpoint: String = FCMConfiguration.google,
        projectId: String? = nil,
        tokenURL: String? = nil,
        timeout: Duration = .seconds(20)
    ) {
        self.serviceAccount = serviceAccount
        self.endpoint = endpoint
        self.projectId = projectId
        self.tokenURL = tokenURL
        self.timeout = timeout
    }

    package static let google = "https://fcm.googleapis.com"

    /// The client for FCM's 100 streams a connection.
    package static var client: HTTP2ClientConfiguration {
        var configuration = HTTP2ClientConfiguration()
        configuration.pool = "fcm"
        configuration.maxStreamsPerConnection = 100
        return configuration
    }
}
