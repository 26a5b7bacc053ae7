import CoreMetrics
import Logging
import Metrics
import Postgres
import PushContract

/// Gathers completions that come at once into one transaction each time.
///
/// Whoever comes first writes, for everybody who comes meanwhile too; so one transaction is under way at a time and batches grow with
/// the load. An outcome is kept in memory while the database is away, until its lease has ended: then others may have it.
actor CompletionBatcher {
    private struct Waiting {
        var completion: Completion
        var continuation: CheckedContinuation<Void, Never>
    }

    private static let limit = 500

    private let store: SendStore
    private let patience: Duration
    private let logger: Logger
    private var waiting: [Waiting] = []
    private var isWriting = false

    /// - Parameter patience: how long a batch is tried while the database is away.
    init(store: SendStore, patience: Duration, logger: Logger) {
        self.store = store
        self.patience = patience
        self.logger = logger
    }

    /// Returns when the completion is committed, found stale, or given up.
    func submit(_ completion: Completion) async {
        guard !isWriting else {
            await withCheckedContinuation { waiting.append(Waiting(completion: completion, continuation: $0)) }
            return
        }
        isWriting = true
        await write([completion])
        while !waiting.isEmpty {
            let batch = Array(waiting.prefix(CompletionBatcher.limit))
            waiting.removeFirst(batch.count)
            await write(batch.map(\.completion))
            for entry in batch { entry.continuation.resume() }
        }
        isWriting = false
    }

    private func write(_ completions: [Completion]) async {
        do {
            let completed = try await persist(completions)
            report(completions, completed: completed)
        } catch let error as PostgresError where completions.count > 1 && !error.isUnavailable {
            // One of them may be at fault; the others must not suffer for it.
            logger.error("outcomes could not be written together, trying one by one", metadata: ["error": "\(error)"])
            for completion in completions { await write([completion]) }
        } catch {
            logger.error(
                "outcomes could not be written; their leases will run out and the deliveries be taken up again",
                metadata: ["count": "\(completions.count)", "deliveryId": "\(completions[0].deliveryId)", "error": "\(error)"]
            )
        }
    }

    private func persist(_ completions: [Completion]) async throws -> [Int64: Bool] {
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(50)
        while true {
            do {
                return try await store.complete(completions)
            } catch let error as PostgresError where error.isUnavailable && ContinuousClock.now - start < patience {
                // The same transaction may have happened: then the leases are gone and the repetition changes nothing.
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    private func report(_ completions: [Completion], completed: [Int64: Bool]) {
        for completion in completions {
            guard let wentOff = completed[completion.deliveryId] else {
                SendMetrics.stale.increment()
                logger.debug("a stale outcome was dropped", metadata: ["deliveryId": "\(completion.deliveryId)"])
                continue
            }
            SendMetrics.count(completion, tokenWentOff: wentOff)
        }
    }
}
