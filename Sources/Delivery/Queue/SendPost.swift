import HTTPServer
import PushContract

/// The sends of one caller's request.
struct SendPost: Sendable {
    var requests: [SendRequest]
    var requestId: String
    /// The name of the caller's key.
    var author: String
    /// Whose devices may be sent to. Of several targets those of another app are skipped; a send that names another app, or has no other
    /// target, is refused.
    var apps: KeyApps
    var now: Timestamp
}

/// A delivery to store, and where it waits.
struct WaitingDelivery {
    var send: SendRequest
    var delivery: NewDelivery
    var queue: SendQueue
    var requestId: String
    /// Nil when it depends on the device's locale.
    var content: DeliveryContent?
    /// It is leased in the transaction that stores it.
    var isDirect = false
}
