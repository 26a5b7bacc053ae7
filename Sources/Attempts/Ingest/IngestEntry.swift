import PushContract
import Synchronization

extension IngestQueue {
    /// One request's batch and who waits for its answer.
    struct Entry: Sendable {
        var batch: AttemptBatch
        var answer: Answer
        /// It met a lock, and is tried apart from the others.
        var isLocked = false
    }

    /// Who waits for an entry's answer, and until when. Answered once: by the writer, or when the time is over, whichever comes first.
    final class Answer: Sendable {
        let end: ContinuousClock.Instant
        private let continuation: Mutex<CheckedContinuation<[AttemptResult], any Error>?>

        init(_ continuation: CheckedContinuation<[AttemptResult], any Error>, end: ContinuousClock.Instant) {
            self.continuation = Mutex(continuation)
            self.end = end
        }

        var isGiven: Bool { continuation.withLock { $0 == nil } }

        func give(_ result: Result<[AttemptResult], any Error>) { continuation.withLock { $0.take() }?.resume(with: result) }
    }
}
