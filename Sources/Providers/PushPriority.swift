/// How soon the device should be woken.
package enum PushPriority: String, Sendable, Hashable, CaseIterable {
    /// At once: APNs 10, FCM high.
    case high
    /// When it suits the device's battery: APNs 5, FCM normal.
    case normal
    /// APNs 1: never wake the device for it. FCM knows no such thing and takes normal.
    case low
}
