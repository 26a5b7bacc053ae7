import Delivery
import Postgres
import Providers
import PushContract
import ServiceKit

/// What became of an alert for a device, or channel, that it was due to.
package struct AlertResult: Sendable, Hashable {
    package enum Outcome: String, Sendable {
        case accepted
        /// Another one stood for it.
        case merged
        /// It was too old to alert anybody.
        case expired
        case rejected
    }

    package var alert: SubjectAlert
    package var outcome: Outcome

    /// In `pushDeliveries.kind`, of those that were not accepted.
    static let kind = "liveAlert"

    /// What senders learn of it; nil: it was accepted.
    ///
    /// - Parameter delivery: nil when it was not made for each device.
    func undelivered(
        _ subject: String,
        _ delivery: NewQueuedDelivery?,
        reason: ReasonCode? = nil,
        code: String? = nil
    ) -> UndeliveredAlert? {
        let cause: UndeliveredAlert.Cause
        switch outcome {
        case .accepted: return nil
        case .merged: cause = .superseded
        case .expired: cause = .expired
        case .rejected: cause = .failed(reason: reason, code: code)
        }
        let name = NamedSubject(subject: subject)
        var members: JSONMembers = [
            "type": .string(name.type), "id": .string(name.id), "timestamp": .integer(alert.timestamp),
        ]
        members["title"] = alert.alert.title.isEmpty ? nil : .string(alert.alert.title)
        return UndeliveredAlert(delivery, cause, alert: .object(members))
    }
}

extension QueuedOutcome {
    /// Alerts that did not arrive with this start or end.
    func undelivered(_ results: [AlertResult]) -> [UndeliveredAlert] {
        let key = ActivityKey(delivery)
        return results.compactMap { result in
            result.undelivered(
                key.subject,
                key.alert(result.alert, app: delivery.app, environment: delivery.environment, token: delivery.tokenHash.rawValue),
                reason: attempt?.classification?.reasonCode,
                code: attempt?.providerErrorCode
            )
        }
    }
}
