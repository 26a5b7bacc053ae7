import Providers
import PushContract
import Synchronization

/// Takes what it answers with 200, and part of what it does not answer; the rest gets a 503. Checks that no token gets an older update.
final class ScoreProvider: PushProvider {
    private struct State {
        var calls = 0
        var accepted: [String: Int] = [:]
        var overtaken: [String] = []
    }

    private let state = Mutex(State())
    let credential = "key"

    var accepted: [String: Int] { state.withLock { $0.accepted } }
    var overtaken: [String] { state.withLock { $0.overtaken } }
    var calls: Int { state.withLock { $0.calls } }

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        let call = state.withLock { state in
            state.calls += 1
            return state.calls
        }
        for _ in 0..<(call % 7) { await Task.yield() }
        // 0 to 15, in an order that looks random and is the same in each run.
        let fate = (call &* 2_654_435_761) >> 8 & 15
        if fate < 3 { return .apns(503, "ServiceUnavailable") }
        state.withLock { state in
            let update = Int(message.title ?? "") ?? 0
            if let last = state.accepted[target.token], last > update { state.overtaken.append("\(target.token): \(update) after \(last)") }
            state.accepted[target.token] = update
        }
        return fate == 3 ? .unanswered : .accepted("m-\(call)")
    }
}
