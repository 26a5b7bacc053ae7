import Dispatch
import PushContract

extension IngestQueue {
    /// A writer without work: a task that waits, or the thread of a connection that it keeps meanwhile.
    enum IdleWriter {
        case task(CheckedContinuation<[Entry], Never>)
        case thread(Handover)

        func wake(with entries: [Entry]) {
            switch self {
            case .task(let continuation): continuation.resume(returning: entries)
            case .thread(let handover): handover.give(entries)
            }
        }
    }

    /// Passes entries to a thread that waits for them.
    ///
    /// `@unchecked Sendable`: written once before the signal, read once after it.
    final class Handover: @unchecked Sendable {
        private let signal = DispatchSemaphore(value: 0)
        private var entries: [Entry] = []

        func give(_ entries: [Entry]) {
            self.entries = entries
            signal.signal()
        }

        func wait() -> [Entry] {
            signal.wait()
            return entries
        }

        /// Nil: none came in this time.
        func wait(upTo limit: Duration) -> [Entry]? {
            signal.wait(timeout: .now() + .microseconds(Int(limit.microseconds))) == .success ? entries : nil
        }
    }
}
