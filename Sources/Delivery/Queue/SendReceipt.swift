package import HTTPServer
import PushContract

/// What became of one requested send.
package enum SendReceipt: Sendable {
    /// Stored, with so many deliveries; and whom of its targets it does not go to.
    case accepted(deliveries: Int, skipped: [SkippedTargets])
    /// The same send was stored before; nothing changed. As it was accepted then.
    case duplicate(deliveries: Int, skipped: [SkippedTargets])
    /// Another send has this id.
    case conflict
    /// It cannot be sent: unknown target, or a payload a provider would refuse.
    case refused(Problem)
}

/// One delivery to store.
struct NewDelivery: Sendable {
    var uid: String
    var deviceId: String?
    var token: StoredToken?
    var platform: Platform
    var provider: Provider
    var environment: PushEnvironment
    var app: String

    struct StoredToken: Sendable {
        /// Never stored.
        var token: PushToken
        var encrypted: [UInt8]
        /// A provider called it dead, and no app has registered it since.
        var isDead: Bool
        var hash: String { token.hash.rawValue }
    }
}
