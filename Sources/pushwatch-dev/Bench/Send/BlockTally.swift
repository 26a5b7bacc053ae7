import HTTPClient
import Synchronization

/// How many requests of a measurement were submitted, and what became of them.
final class BlockTally: Sendable {
    private struct State {
        var submitted = 0
        var ended = 0
        var answered = 0
        var failure: String?
    }

    private let total: Int
    private let state = Mutex(State())

    init(total: Int) { self.total = total }

    /// The numbers of the next requests, at most so many.
    func take(_ wanted: Int) -> Range<Int> {
        state.withLock { state in
            let first = state.submitted
            state.submitted = min(total, first + wanted)
            return first..<state.submitted
        }
    }

    /// Counts outcomes. The answered requests and the first failure when these were the last.
    func note(_ completions: [RequestBlock.Completion]) -> (Int, String?)? {
        state.withLock { state in
            for completion in completions {
                switch completion.result {
                case .success(let response) where response.status == 200: state.answered += 1
                case .success(let response): state.failure = state.failure ?? "status \(response.status)"
                case .failure(let failure): state.failure = state.failure ?? failure.description
                }
            }
            state.ended += completions.count
            return state.ended == total ? (state.answered, state.failure) : nil
        }
    }
}
