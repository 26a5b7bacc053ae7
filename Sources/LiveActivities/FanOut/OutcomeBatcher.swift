import CoreMetrics
import Logging
import Postgres
import Sending

/// Gathers outcomes that come at once into one transaction each time; one is under way at a time, and batches grow with the load.
///
/// They are written by `run`, not by the tasks that made the pushes: those may be cancelled at shutdown, and what they learnt is written all
/// the same. While the database is away outcomes are kept and tried again; senders wait here, so memory stays bounded by what is under way.
actor OutcomeBatcher {
    private static let limit = 1000

    private struct Waiting {
        var outcome: LiveOutcome
        var continuation: CheckedContinuation<Bool, Never>
    }

    private let store: OutcomeStore
    private let logger: Logger
    private let patience: Duration
    private let onReport: @Sendable (Standstill.Report) -> Void
    private var waiting: [Waiting] = []
    private var idle: CheckedContinuation<Void, Never>?
    private var isOpen = false

    /// - Parameter onReport: told what a written batch came to for everybody.
    init(
        store: OutcomeStore,
        patience: Duration = .seconds(60),
        logger: Logger,
        onReport: @escaping @Sendable (Standstill.Report) -> Void = { _ in }
    ) {
        self.store = store
        self.patience = patience
        self.logger = logger
        self.onReport = onReport
    }

    /// Before `run`, and before anything is submitted.
    func open() {
        precondition(!isOpen, "one writer at a time")
        isOpen = true
    }

    /// Returns when the outcome is committed, or given up; whether it was withheld by a token breaker.
    @discardableResult
    func submit(_ outcome: LiveOutcome) async -> Bool {
        precondition(isOpen, "nobody writes outcomes")
        return await withCheckedContinuation { continuation in
            waiting.append(Waiting(outcome: outcome, continuation: continuation))
            wake()
        }
    }

    /// Everything was submitted: `run` ends when it is written.
    func close() {
        isOpen = false
        wake()
    }

    /// Writes what comes, until it is closed.
    func run() async {
        while isOpen || !waiting.isEmpty {
            guard !waiting.isEmpty else {
                await withCheckedContinuation { idle = $0 }
                continue
            }
            let batch = Array(waiting.prefix(OutcomeBatcher.limit))
            waiting.removeFirst(batch.count)
            let withheld = await write(batch.map(\.outcome))
            for (place, entry) in batch.enumerated() { entry.continuation.resume(returning: withheld.contains(place)) }
        }
    }

    private func wake() {
        idle?.resume()
        idle = nil
    }

    /// The places of those that were withheld.
    private func write(_ outcomes: [LiveOutcome]) async -> Set<Int> {
        do {
            let report = try await persist(outcomes)
            onReport(report.standstill)
            return report.withheld
        } catch let error as PostgresError where outcomes.count > 1 && !error.isUnavailable {
            logger.error("outcomes could not be written together, trying one by one", metadata: ["error": "\(error)"])
            var withheld: Set<Int> = []
            for (place, outcome) in outcomes.enumerated() where !(await write([outcome])).isEmpty { withheld.insert(place) }
            return withheld
        } catch {
            LiveMetrics.lostOutcomes.increment(by: outcomes.count)
            logger.error("outcomes of Live Activity pushes are lost", metadata: ["count": "\(outcomes.count)", "error": "\(error)"])
            return []
        }
    }

    private func persist(_ outcomes: [LiveOutcome]) async throws -> OutcomeStore.Report {
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
