import Attempts
import CoreMetrics
import Logging
import Postgres
import PushContract
import Delivery
package import ServiceKit

/// Gathers outcomes that come at once into one transaction each time; one is under way at a time, and batches grow with the load.
///
/// They are written by `run`, not by the tasks that made the pushes: those may be cancelled at shutdown, and what they learnt is written all
/// the same. While the database is away outcomes are kept and tried again; senders wait here, so memory stays bounded by what is under way.
struct OutcomeBatcher: Sendable {
    private static let limit = 1000

    private let gatherer: GroupCommit<LiveOutcome, Bool>
    private let uncommitted: UncommittedOutcomes

    /// - Parameters:
    ///   - intents: what is answered there is forgotten in the transaction of its last outcome.
    ///   - owner: whose intents they are.
    ///   - uncommitted: told what waits here.
    ///   - patience: how long outcomes wait for a database that is away.
    ///   - onReport: told what a written batch came to for everybody.
    init(
        store: OutcomeStore,
        intents: OpenIntents,
        owner: String,
        uncommitted: UncommittedOutcomes,
        writeTimeout: Duration = .seconds(60),
        logger: Logger,
        onReport: @escaping @Sendable (CircuitWriter.Report) -> Void = { _ in }
    ) {
        let writer = Writer(store: store, intents: intents, owner: owner, writeTimeout: writeTimeout, logger: logger, onReport: onReport)
        self.uncommitted = uncommitted
        gatherer = GroupCommit(limit: OutcomeBatcher.limit) { await writer.handle($0) }
    }

    /// Before `run`, and before anything is submitted.
    func open() async { await gatherer.open() }

    /// Returns when the outcome is committed, or given up; whether it was withheld by a token limiter.
    @discardableResult
    func submit(_ outcome: LiveOutcome) async -> Bool {
        await uncommitted.during(outcome.attempt?.attemptedAt, arrivedAt: .now()) { await gatherer.submit(outcome) }
    }

    /// Everything was submitted: `run` ends when it is written.
    func close() async { await gatherer.close() }

    /// Writes what comes, until it is closed.
    func run() async { await gatherer.run() }
}

extension OutcomeBatcher {
    /// Writes a batch, whatever it takes.
    fileprivate struct Writer: Sendable {
        let store: OutcomeStore
        let intents: OpenIntents
        let owner: String
        let writeTimeout: Duration
        let logger: Logger
        let onReport: @Sendable (CircuitWriter.Report) -> Void

        func handle(_ outcomes: [LiveOutcome]) async -> [Bool] {
            intents.answer(outcomes.compactMap(\.intent))
            let deferred = await write(outcomes)
            return outcomes.indices.map { deferred.contains($0) }
        }

        /// The places of those that were withheld.
        private func write(_ outcomes: [LiveOutcome]) async -> Set<Int> {
            do {
                return try await persist(outcomes, forgetting: intents.answered)
            } catch let error as PostgresError where outcomes.count > 1 && !error.isUnavailable {
                logger.error("outcomes could not be written together, trying one by one", metadata: ["error": "\(error)"])
                return await writeEach(outcomes)
            } catch {
                lose(outcomes, error)
                return []
            }
        }

        /// Their groups of intents are forgotten with the next batch: until then one of them may still be lost.
        private func writeEach(_ outcomes: [LiveOutcome]) async -> Set<Int> {
            var deferred: Set<Int> = []
            for (place, outcome) in outcomes.enumerated() {
                do {
                    if !(try await persist([outcome], forgetting: [])).isEmpty { deferred.insert(place) }
                } catch {
                    lose([outcome], error)
                }
            }
            return deferred
        }

        /// The intents stay, and say in two minutes that nobody knows what became of these pushes.
        private func lose(_ outcomes: [LiveOutcome], _ error: any Error) {
            for outcome in outcomes { if let number = outcome.intent { intents.abandon(number) } }
            LiveMetrics.lostOutcomes.increment(by: outcomes.count)
            logger.error("outcomes of Live Activity pushes are lost", metadata: ["count": "\(outcomes.count)", "error": "\(error)"])
        }

        private func persist(_ outcomes: [LiveOutcome], forgetting answered: [Int64]) async throws -> Set<Int> {
            let start = ContinuousClock.now
            var pause = Duration.milliseconds(50)
            while true {
                do {
                    let report = try await store.write(outcomes, forgetting: answered, of: owner)
                    intents.forgot(answered)
                    onReport(report.sendGate)
                    return report.deferred
                } catch let error as PostgresError where error.isUnavailable && ContinuousClock.now - start < writeTimeout {
                    // The same transaction may have happened: attempts are known by their ids, and timestamps only rise.
                    try await Task.sleep(for: pause)
                    pause = min(pause * 2, .seconds(2))
                }
            }
        }
    }
}
