import Delivery
import Foundation
import HTTPServer
import Providers
import PushContract
import ServiceKit
import Synchronization

/// Stands for APNs: keeps what it is sent and answers as told, else 200.
final class ScriptedAPNs: PushProvider {
    struct Call: Sendable {
        var token: String
        var app: String
        var environment: PushEnvironment
        var message: PushMessage
        var attemptId: String

        var bytes: [UInt8] { message.payload?.bytes ?? [] }
        var aps: JSONMembers {
            guard case .object(let members)? = try? JSONParser.parse(bytes), case .object(let aps)? = members["aps"] else { return [:] }
            return aps
        }
        var event: String { aps.text("event") }
        var timestamp: Int64 { aps.integer("timestamp") }
        var contentState: String { aps["content-state"]?.text ?? "" }
    }

    private let state = Mutex((calls: [Call](), answers: [String: [PushOutcome]]()))
    let channels = ScriptedChannels()

    var calls: [Call] { state.withLock { $0.calls } }
    func calls(_ event: String) -> [Call] { calls.filter { $0.event == event } }
    func forget() { state.withLock { $0.calls = [] } }

    /// The next answers for a token, in order; after them 200 again.
    func answer(_ token: String, _ outcomes: PushOutcome...) { state.withLock { $0.answers[token, default: []] += outcomes } }

    /// From now on 200 again.
    func clearAnswers(_ token: String) { state.withLock { $0.answers[token] = nil } }

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        state.withLock { state in
            state.calls.append(
                Call(
                    token: target.token,
                    app: target.app,
                    environment: target.environment,
                    message: message,
                    attemptId: attemptId
                )
            )
            guard var answers = state.answers[target.token], !answers.isEmpty else {
                return .sent(messageId: "m", httpStatus: 200, latency: .milliseconds(3))
            }
            let answer = answers.removeFirst()
            state.answers[target.token] = answers
            return answer
        }
    }
}

extension PushOutcome {
    static func apns(_ status: Int, _ reason: String, goneAt: Timestamp? = nil) -> PushOutcome {
        var outcome = PushOutcome.failed(
            ReasonMapping.apns(status: status, reason: reason),
            code: reason,
            detail: reason,
            httpStatus: status
        )
        outcome.tokenInvalidSince = goneAt
        outcome.refusalScope = RefusalScope.apns(status: status, reason: reason)
        return outcome
    }

    /// Written, never answered.
    static var unanswered: PushOutcome {
        var outcome = PushOutcome.failed(ReasonMapping.network, detail: "reset")
        outcome.outcomeUnknown = true
        return outcome
    }
}

extension JSONMembers {
    func text(_ name: String) -> String {
        if case .string(let text)? = self[name] { text } else { "" }
    }

    func integer(_ name: String) -> Int64 {
        if case .integer(let number)? = self[name] { number } else { 0 }
    }
}
