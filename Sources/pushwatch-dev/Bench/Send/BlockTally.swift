import HTTPClient
import Synchronization

/// How many requests of a measurement were submitted, and what became of them.
final class BlockTally: Sendable {
    private struct State {
        var total: Int
        var submitted = 0
        var ended = 0
        var answered = 0
        var failure: String?
        var isReported = false
    }

    private let state: Mutex<State>

    init(total: Int) { state = Mutex(State(total: total)) }

    /// The numbers of the next requests, at most so many.
    func take(_ wanted: Int) -> Range<Int> {
        state.withLock { state in
            let first = state.submitted
            state.submitted = min(state.total, first + wanted)
            return first..<state.submitted
        }
    }

    /// No more requests are submitted.
    func stop() { state.withLock { $0.total = $0.submitted } }

    /// Counts outcomes.
    func note(_ completions: [RequestBlock.Completion]) {
        state.withLock { state in
            for completion in completions {
                switch completion.result {
                case .success(let response) where response.status == 200: state.answered += 1
                case .success(let response): state.failure = state.failure ?? "status \(response.status)"
                case .failure(let failure): state.failure = state.failure ?? failure.description
                }
            }
            state.ended += completions.count
        }
    }

    /// The answered requests and the first failure: once, when all have ended.
    func takeResult() -> (Int, String?)? {
        state.withLock { state in
            guard state.ended == state.total, !state.isReported else { return nil }
            state.isReported = true
            return (state.answered, state.failure)
        }
    }
}
