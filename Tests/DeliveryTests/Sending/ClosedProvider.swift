import Providers
import PushContract
import Synchronization
import TestSupport

/// Answers nothing until it is open.
final class ClosedProvider: PushProvider {
    private let gate = Gate()
    private let asked = Mutex<[String]>([])

    /// The sends that it was asked to push, in order.
    var sendIds: [String] { asked.withLock { $0 } }

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        asked.withLock { $0.append(String(attemptId.prefix { $0 != ":" })) }
        await gate.wait()
        return .accepted("m")
    }

    func open() { gate.open() }
}
