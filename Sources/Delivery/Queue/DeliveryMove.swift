import PushContract

/// Where a delivery of the queue goes when its outcome is written.
struct DeliveryMove {
    /// What its rows begin with.
    struct Key {
        var deliveryId: Int64
        var queue: Int32
        var attempts: Int
    }

    var lease: DeliveryLease
    var next: DeliveryNext
    /// Attempts made, this one included if it was one.
    var attempts: Int
    /// Of a send; nil for others. What it is follows from `next`.
    private let event: DeliveryEvent?
    private let isTokenDeactivated: Bool
    var deliveryId: Int64 { lease.deliveryId }
    var key: Key { Key(deliveryId: deliveryId, queue: lease.queue, attempts: attempts) }

    /// What its sender learns.
    var events: [DeliveryEvent] {
        guard var event else { return [] }
        let wasAttempted = event.attemptId != nil
        switch next {
        case .sent: event.event = .sent
        case .cancelled: event.event = .cancelled
        case .superseded: event.event = .superseded
        case .dead(let outcome, let reason, let code):
            event.event = outcome.event
            if !wasAttempted { (event.reasonCode, event.providerErrorCode) = (reason, code) }
        case .retry(let at, _): event.nextAttemptAt = at
        case .blocked: break
        }
        var events = wasAttempted || event.event != .attemptFailed ? [event] : []
        if isTokenDeactivated {
            event.event = .tokenDeactivated
            event.nextAttemptAt = nil
            events.append(event)
        }
        return events
    }

    /// Set if all there is to record is that the delivery of a send was sent at its first attempt.
    var sentAtFirst: SentDelivery? {
        guard case .sent(let messageId) = next, attempts == 1, !isTokenDeactivated, let event, let attemptId = event.attemptId,
            let digest = [UInt8](hexDigits: attemptId)
        else { return nil }
        return SentDelivery(deliveryId: deliveryId, queue: lease.queue, attemptId: digest, messageId: messageId)
    }

    init?(_ outcome: DeliveryOutcome<QueueConsequence>, isTokenDeactivated: Bool) {
        guard let lease = outcome.lease, let consequence = outcome.consequence else { return nil }
        self.lease = lease
        self.isTokenDeactivated = isTokenDeactivated
        next = outcome.switchedAt.map { .retry(at: $0, after: .tokenInvalid) } ?? consequence.next
        let attempts = outcome.attempt == nil ? lease.attemptNumber - 1 : lease.attemptNumber
        self.attempts = attempts
        event =
            consequence.queued == nil
            ? DeliveryEvent(deliveryId: lease.deliveryId, event: .attemptFailed, attempts: attempts, attempt: outcome.attempt) : nil
    }
}
