import Postgres
import Providers

/// The provider's id of a push that was sent.
package enum SentMessageId: Sendable, Hashable {
    /// The `apns-id` that it was given, as nearly all are: it follows from what was sent, so it need not be stored with many.
    case derived(String)
    /// Nil: none.
    case other(String?)

    init(_ outcome: PushOutcome) {
        self =
            if outcome.hasDerivedMessageId, let id = outcome.providerMessageId { .derived(id) } else { .other(outcome.providerMessageId) }
    }

    var text: String? {
        switch self {
        case .derived(let id): id
        case .other(let id): id
        }
    }

    /// In `pushOutcomes`.
    var stored: String? {
        switch self {
        case .derived: nil
        case .other(let id): id ?? ""
        }
    }

    /// What is stored in `pushOutcomes` for a delivery `d` of a send, as text or NULL.
    static func text(stored id: Query) -> Query {
        """
        nullif(coalesce(\(id), pushAPNsId(d.sendId || ':' || coalesce(d.deviceId, 'sha256:' || encode(d.tokenHash, 'hex')))), '')
        """
    }
}
