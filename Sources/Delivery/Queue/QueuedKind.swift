package import Postgres
package import Providers
package import PushContract

/// A kind of delivery that a feature above puts into the queue (`DeliveryQueue.enqueue`). The queue claims, attempts and retries it as any
/// other, and settles it when its process dies. The kind supplies the content when it is attempted, and writes what the outcome means for
/// its owner.
package protocol QueuedKind: Sendable {
    /// In `pushDeliveries.kind`.
    var name: String { get }
    /// What happens when the outcome of an attempt is unknown.
    var policy: DeliveryPolicy { get }

    /// The attempt of a claimed delivery, also of one whose process ended.
    func identity(of delivery: QueuedDelivery) -> AttemptIdentity

    /// What deliveries that were just claimed send, by deliveryId: one query for all of them. One without content is not wanted any more.
    func contents(of deliveries: [QueuedDelivery]) async throws -> [Int64: QueuedContent]

    /// Writes what outcomes mean for the owner, in the transaction of their attempts.
    func apply(_ outcomes: [QueuedOutcome], on connection: BlockingConnection) throws

    /// Counts an outcome, after its transaction.
    func report(_ outcome: QueuedOutcome)
}

/// A claimed delivery of a `QueuedKind`.
package struct QueuedDelivery: Sendable, Hashable {
    package var deliveryId: Int64
    package var kind: String
    /// What the owner knows it by, together with the uid and the device.
    package var ownerKey: String
    package var uid: String
    package var deviceId: String
    package var app: String
    package var environment: PushEnvironment
    /// Of the token for which it was stored.
    package var tokenHash: TokenHash
    package var attemptNumber: Int
}

/// What the owner says of a claimed delivery. By reference, as it is large and most deliveries have none.
package indirect enum QueuedContent: Sendable {
    /// - Parameter note: comes back with the outcome (`QueuedOutcome.note`).
    case push(Push, to: PushToken, note: any Sendable)
    /// Claimed again then, by the database's clock.
    case notBefore(Timestamp)
    /// There is a token, and it cannot be decrypted.
    case unreadable(TokenCipherError)
    /// It ends without an attempt.
    case notWanted
}

/// What became of a claim of a delivery. By reference, as it is large and most deliveries have none.
package final class QueuedOutcome: Sendable {
    package let delivery: QueuedDelivery
    /// What the attempt came to; nil: there was none.
    package let attempt: PushOutcome?
    package let next: DeliveryNext
    /// What the content noted; nil if the process that had it ended.
    package let note: (any Sendable)?

    package init(delivery: QueuedDelivery, attempt: PushOutcome? = nil, next: DeliveryNext, note: (any Sendable)? = nil) {
        self.delivery = delivery
        self.attempt = attempt
        self.next = next
        self.note = note
    }
}
