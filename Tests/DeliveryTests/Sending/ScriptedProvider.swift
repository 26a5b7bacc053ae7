import Delivery
import Providers
import PushContract
import Synchronization

/// A provider whose answers are given: per token in order, then by rule, then "accepted".
final class ScriptedProvider: PushProvider {
    struct Call: Sendable {
        var token: String
        var app: String
        /// `<sendId>:<deviceId or token hash>`.
        var attemptId: String

        var sendId: String { String(attemptId.prefix { $0 != ":" }) }
        var deviceId: String { String(attemptId.drop { $0 != ":" }.dropFirst()) }
    }

    private struct State {
        var scripts: [String: [PushOutcome]] = [:]
        var calls: [Call] = []
        var credential = "key-1"
        var environments: Set<PushEnvironment> = [.production]
        var rule: Rule = { _, _ in nil }
    }

    /// What every message to a token is answered with; nil: accepted.
    typealias Rule = @Sendable (PushMessage, String) -> PushOutcome?

    private let state = Mutex(State())

    /// - Parameter environments: those it has a credential for.
    init(_ scripts: [String: [PushOutcome]] = [:], environments: Set<PushEnvironment> = [.production]) {
        state.withLock { state in
            state.scripts = scripts
            state.environments = environments
        }
    }

    var calls: [Call] { state.withLock { $0.calls } }

    var lookup: ProviderLookup {
        { [self] _, _, environment in state.withLock { $0.environments.contains(environment) } ? self : nil }
    }

    /// Another key is configured; what tokens are answered with from now on.
    func use(credential: String, scripts: [String: [PushOutcome]] = [:]) {
        state.withLock { state in
            state.credential = credential
            state.scripts = scripts
        }
    }

    /// Answers by this rule from now on.
    func answer(_ rule: @escaping Rule) { state.withLock { $0.rule = rule } }

    /// Answers everything so from now on.
    func answer(_ outcome: PushOutcome?) { answer { _, _ in outcome } }

    var credential: String { state.withLock { $0.credential } }

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        state.withLock { state in
            state.calls.append(Call(token: target.token, app: target.app, attemptId: attemptId))
            guard let next = state.scripts[target.token]?.first else {
                return state.rule(message, target.token) ?? .accepted("message-\(state.calls.count)", latency: .milliseconds(12))
            }
            state.scripts[target.token]?.removeFirst()
            return next
        }
    }
}

extension PushOutcome {
    static func accepted(_ messageId: String?, latency: Duration = .zero) -> PushOutcome {
        .sent(messageId: messageId, httpStatus: 200, latency: latency)
    }

    static func apns(_ status: Int, _ reason: String, goneAt: Timestamp? = nil, retryAfter: Duration? = nil) -> PushOutcome {
        var outcome = PushOutcome.failed(
            ReasonMapping.apns(status: status, reason: reason),
            code: reason,
            detail: reason,
            httpStatus: status,
            latency: .milliseconds(5)
        )
        outcome.tokenInvalidSince = goneAt
        outcome.retryAfter = retryAfter
        outcome.refusalScope = .apns(status: status, reason: reason)
        return outcome
    }

    static func fcm(_ status: Int, _ code: String, retryAfter: Duration? = nil) -> PushOutcome {
        var outcome = PushOutcome.failed(ReasonMapping.fcm(status: status, errorCode: code), code: code, detail: code, httpStatus: status)
        outcome.retryAfter = retryAfter
        outcome.refusalScope = .fcm(status: status, errorCode: code, quotaSubjects: [])
        return outcome
    }

    static let unanswered: PushOutcome = {
        var outcome = PushOutcome.failed(ReasonMapping.network, code: "Timeout", detail: "Timeout")
        outcome.outcomeUnknown = true
        return outcome
    }()
}
