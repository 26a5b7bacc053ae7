/// How soon the push is delivered.
package enum PushPriority: String, Sendable, Hashable, CaseIterable {
    /// Immediately: APNs 10, FCM high.
    case high
    /// With regard to the device's battery: APNs 5, FCM normal.
    case normal
    /// APNs 1: never wakes the device. FCM has no equivalent and uses normal.
    case low
}
