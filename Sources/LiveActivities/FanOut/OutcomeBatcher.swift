import CoreMetrics
import Logging
import Postgres

/// Gathers outcomes that come at once into one transaction each time; one is under way at a time, and batches grow with the load.
///
/// While the database is away outcomes are kept and tried again; senders wait here, so memory stays bounded by what is under way.
actor OutcomeBatcher {
    private static let limit = 1000

    private struct Waiting {
        var outcome: LiveOutcome
        var continuation: CheckedContinuation<Void, Never>
    }

    private let store: OutcomeStore
    private let logger: Logger
    private let patience: Duration
    private var waiting: [Waiting] = []
    private var isWriting = false

    init(store: OutcomeStore, patience: Duration = .seconds(60), logger: Logger) {
        self.store = store
        self.patience = patience
        self.logger = logger
    }

    /// Returns when the outcome is committed, or given up.
    func submit(_ outcome: LiveOutcome) async {
        guard !isWriting else {
            await withCheckedContinuation { waiting.append(Waiting(outcome: outcome, continuation: $0)) }
            return
        }
        isWriting = true
        await write([outcome])
        while !waiting.isEmpty {
            let batch = Array(waiting.prefix(OutcomeBatcher.limit))
            waiting.removeFirst(batch.count)
            await write(batch.map(\.outcome))
            for entry in batch { entry.continuation.resume() }
        }
        isWriting = false
    }

    private func write(_ outcomes: [LiveOutcome]) async {
        do {
            try await persist(outcomes)
        } catch let error as PostgresError where outcomes.count > 1 && !error.isUnavailable {
            logger.error("outcomes could not be written together, trying one by one", metadata: ["error": "\(error)"])
            for outcome in outcomes { await write([outcome]) }
        } catch {
            LiveMetrics.lostOutcomes.increment(by: outcomes.count)
            logger.error("outcomes of Live Activity pushes are lost", metadata: ["count": "\(outcomes.count)", "error": "\(error)"])
        }
    }

    private func persist(_ outcomes: [LiveOutcome]) async throws {
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(50)
        while true {
            do {
                return try await store.write(outcomes)
            } catch let error as PostgresError where error.isUnavailable && ContinuousClock.now - start < patience {
                // The same transaction may have happened: attempts are known by their ids, and timestamps only rise.
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }
}
