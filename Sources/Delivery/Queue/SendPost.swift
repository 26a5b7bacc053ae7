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

extension SendPost {
    /// Whose keys a send with a `collapseId` locks.
    private enum Keys {
        case devices, tokens
        /// Of devices that are looked up while they are stored.
        case list

        init?(_ request: SendRequest) {
            guard request.content.collapseId != nil else { return nil }
            switch request.target {
            case .user, .device, .devices: self = .devices
            case .token, .tokens: self = .tokens
            case .users, .audience, .selected: self = .list
            }
        }
    }

    /// Whether keys (`pushNewest`) are locked while it is stored.
    var needsKeys: Bool { requests.contains { $0.content.collapseId != nil } }

    /// Parts that are stored one after the other, each in a transaction. In one transaction keys (`pushNewest`) are locked by one
    /// statement, so that no two wait for each other, and its deliveries are newer in the order of the sends. Nearly every request is one
    /// part.
    var parts: [SendPost] {
        var parts: [SendPost] = []
        var last: Keys?
        for request in requests {
            let keys = Keys(request)
            if let index = parts.indices.last, keys == nil || last == nil || keys == last && keys != .list {
                parts[index].requests.append(request)
            } else {
                var part = self
                part.requests = [request]
                parts.append(part)
                last = nil
            }
            last = keys ?? last
        }
        return parts.isEmpty ? [self] : parts
    }
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
