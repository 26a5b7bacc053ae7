/// The state of one delivery.
package enum DeliveryState: String, Sendable, Hashable, Codable {
    /// Ready to be sent.
    case queued
    /// Not due yet.
    case scheduled
    /// With a provider now.
    case sending
    /// Failed, and to be tried again.
    case retrying
    /// Waiting until a refused credential is accepted again.
    case blocked
    /// A newer delivery with its `collapseId` has replaced it.
    case superseded
    case sent, cancelled, failed, expired, unreachable
}

/// The state of a send, from those of its deliveries.
package enum SendState: String, Sendable, Hashable, Codable {
    /// Not all of its deliveries are stored yet; those that are may have ended.
    case storing
    case queued, scheduled, sending, retrying, blocked
    case sent
    /// Some deliveries were sent and the others were not.
    case partial
    case superseded, cancelled, failed, expired, unreachable

    /// The state of a send with these deliveries: what still moves first, then what became of it.
    package init(_ deliveries: [DeliveryState]) {
        let states = Set(deliveries)
        if states.contains(.sending) {
            self = .sending
        } else if states.contains(.queued) {
            self = .queued
        } else if states.contains(.retrying) {
            self = .retrying
        } else if states.contains(.blocked) {
            self = .blocked
        } else if states.contains(.scheduled) {
            self = .scheduled
        } else if states == [.sent] {
            self = .sent
        } else if states.contains(.sent) {
            self = .partial
        } else if states.contains(.failed) {
            self = .failed
        } else if states.contains(.expired) {
            self = .expired
        } else if states.contains(.superseded) {
            self = .superseded
        } else if states.contains(.cancelled) {
            self = .cancelled
        } else {
            self = .unreachable
        }
    }
}
