import Delivery
import Providers
import PushContract
import Synchronization

/// A provider that answers as it was told to: per token in order, then "accepted".
final class ScriptedSender: DeliverySender {
    private struct State {
        var scripts: [String: [DeliveryResult]] = [:]
        var calls: [ClaimedDelivery] = []
        var credential = "key-1"
        var environments: Set<PushEnvironment> = [.production]
    }

    private let state = Mutex(State())

    /// - Parameter environments: those it has a credential for.
    init(_ scripts: [String: [DeliveryResult]] = [:], environments: Set<PushEnvironment> = [.production]) {
        state.withLock { state in
            state.scripts = scripts
            state.environments = environments
        }
    }

    var calls: [ClaimedDelivery] { state.withLock { $0.calls } }

    /// Another key is configured; what tokens are answered with from now on.
    func use(credential: String, scripts: [String: [DeliveryResult]] = [:]) {
        state.withLock { state in
            state.credential = credential
            state.scripts = scripts
        }
    }

    func credential(for provider: Provider, app: String, environment: PushEnvironment) -> String {
        state.withLock { $0.environments.contains(environment) ? $0.credential : "" }
    }

    func send(_ delivery: ClaimedDelivery, to token: PushToken, permit: consuming SendPermit) async -> DeliveryResult {
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
    static func apns(
        _ status: Int,
        _ reason: String,
        goneAt: Timestamp? = nil,
        retryAfter: Duration? = nil,
        ownTopic: Bool = false
    ) -> DeliveryResult {
        let refusal = Refusal(
            ReasonMapping.apns(status: status, reason: reason),
            providerErrorCode: reason,
            goneAt: goneAt,
            retryAfter: retryAfter,
            isThrottled: status == 429,
            refusalScope: .apns(status: status, reason: reason),
            isOwnTopic: ownTopic
        )
        return DeliveryResult(.refused(refusal), latency: .milliseconds(5))
    }

    static func fcm(_ status: Int, _ code: String, retryAfter: Duration? = nil) -> DeliveryResult {
        let refusal = Refusal(
            ReasonMapping.fcm(status: status, errorCode: code),
            providerErrorCode: code,
            retryAfter: retryAfter,
            isThrottled: status == 429,
            refusalScope: .fcm(status: status, errorCode: code, quotaSubjects: [])
        )
        return DeliveryResult(.refused(refusal))
    }

    static let unanswered = DeliveryResult(
        .refused(Refusal(ReasonMapping.network, providerErrorCode: "Timeout", isOutcomeUnknown: true, wasAnswered: false))
    )
}
