/// The kind of address of a device.
package enum PushAddress: String, Sendable, Hashable, CaseIterable {
    /// An APNs device token, or an FCM registration token.
    case token
    /// A Firebase installation id; FCM only.
    case fid
}
