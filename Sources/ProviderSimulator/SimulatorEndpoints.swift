/// Where a started simulator listens.
package struct SimulatorEndpoints: Sendable, Hashable, Codable {
    /// `https://127.0.0.1:<port>`, no trailing slash; append `/3/device/…`.
    package let apnsURL: String
    /// `https://127.0.0.1:<port>`; append `/v1/projects/…`.
    package let fcmURL: String
    /// The complete URL of the token endpoint, `https://127.0.0.1:<port>/token`.
    package let oauthTokenURL: String
    /// `http://127.0.0.1:<port>`.
    package let controlURL: String
    /// PEM of the authority to trust.
    package let caFile: String
}
