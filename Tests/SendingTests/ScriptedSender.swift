import Devices
import PushContract
import Sending
import Synchronization

/// A provider that answers as it was told to: per token in order, then "accepted".
final class ScriptedSender: DeliverySender {
    private struct State {
        var scripts: [String: [DeliveryResult]] = [:]
        var calls: [ClaimedDelivery] = []
    }

    private let state = Mutex(State())

    init(_ scripts: [String: [DeliveryResult]] = [:]) { state.withLock { $0.scripts = scripts } }

    var calls: [ClaimedDelivery] { state.withLock { $0.calls } }

    func send(_ delivery: ClaimedDelivery, to token: PushToken) async -> DeliveryResult {
        state.withLock { state in
            state.calls.append(delivery)
            guard let next = state.scripts[token.rawValue]?.first else {
                return DeliveryResult(
                    .accepted(providerMessageId: "message-\(state.calls.count)"),
                    latency: .milliseconds(12),
                    pushType: "alert"
                )
            }
            state.scripts[token.rawValue]?.removeFirst()
            return next
        }
    }
}

extension DeliveryResult {
    static func apns(_ status: Int, _ reason: String, goneAt: Timestamp? = nil) -> DeliveryResult {
        DeliveryResult(
            .refused(Refusal(ReasonMapping.apns(status: status, reason: reason), providerErrorCode: reason, goneAt: goneAt)),
            latency: .milliseconds(5)
        )
    }

    static func fcm(_ status: Int, _ code: String) -> DeliveryResult {
        DeliveryResult(.refused(Refusal(ReasonMapping.fcm(status: status, errorCode: code), providerErrorCode: code)))
    }

    static let unanswered = DeliveryResult(
        .refused(Refusal(ReasonMapping.network, providerErrorCode: "Timeout", isOutcomeUnknown: true))
    )
}
