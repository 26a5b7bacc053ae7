/// The services that are simulated.
package enum SimulatedProvider: String, Sendable, Hashable, Codable, CaseIterable {
    /// Apple's push service, `/3/device/…`.
    case apns
    /// Firebase Cloud Messaging, HTTP v1.
    case fcm
    /// Google's OAuth 2.0 token endpoint.
    case oauth
}
