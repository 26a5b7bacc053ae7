import Foundation
import Synchronization

/// A thread for work that blocks.
enum BenchThread {
    private final class Cancellation: Sendable {
        let isRequested = Atomic(false)
    }

    /// Runs `work` on a thread of its own. It asks `isCancelled` in each of its turns, and then ends.
    static func run<Value: Sendable>(_ work: @escaping @Sendable (_ isCancelled: () -> Bool) -> Value) async -> Value {
        let cancellation = Cancellation()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(returning: work { cancellation.isRequested.load(ordering: .relaxed) })
                }
            }
        } onCancel: {
            cancellation.isRequested.store(true, ordering: .relaxed)
        }
    }
}
