import Attempts
import Logging
import Postgres
import PushContract
import ServiceKit

/// Gathers outcomes that come at once into one transaction each time; one is under way at a time, so batches grow with the load.
///
/// They are written by `run`, not by the tasks that made the pushes: those may be cancelled at shutdown, and their outcomes are written all
/// the same. While the database is away outcomes are kept and written later; those who push wait, or keep their slots, so memory stays
/// bounded.
struct OutcomeWriter<Kind: DeliveryKind>: Sendable {
    typealias Outcome = DeliveryOutcome<Kind.Consequence>

    private let batcher: GroupCommit<Outcome, OutcomeDisposition>
    private let uncommitted: UncommittedOutcomes

    /// - Parameters:
    ///   - gate: applies at once what a written batch opened and closed.
    ///   - intents: groups whose outcomes are all written are forgotten in the transaction of the last.
    ///   - owner: the process whose intents they are.
    ///   - uncommitted: counts what waits here.
    ///   - writeTimeout: how long outcomes wait for a database that is away.
    init(
        _ store: OutcomeStore<Kind>,
        gate: SendGate,
        intents: OpenGroups,
        owner: String,
        uncommitted: UncommittedOutcomes,
        writeTimeout: Duration,
        logger: Logger
    ) {
        let batch = OutcomeBatchWriter(
            store: store,
            gate: gate,
            intents: intents,
            owner: owner,
            writeTimeout: writeTimeout,
            logger: logger
        )
        self.uncommitted = uncommitted
        batcher = GroupCommit(limit: Kind.batchLimit, interval: Kind.batchInterval) { await batch.write($0) }
    }

    /// Returns when the outcome is committed, found stale, or given up.
    ///
    /// - Returns: nil when it is not that of an attempt.
    @discardableResult
    func submit(_ outcome: Outcome) async -> OutcomeDisposition? {
        await withUnsafeContinuation { continuation in submit(outcome) { continuation.resume(returning: $0) } }
    }

    /// Returns at once.
    ///
    /// - Parameter written: called when the outcome is committed, found stale, or given up; with nil when it is not that of an attempt.
    @inline(never)
    func submit(_ outcome: Outcome, written: @escaping @Sendable (OutcomeDisposition?) -> Void) {
        let attempt = outcome.attempt.map { uncommitted.begin($0.attemptedAt, arrivedAt: .now()) }
        batcher.submit(outcome, isCritical: outcome.lease?.isCritical == true) { [uncommitted] disposition in
            guard let attempt else { return written(nil) }
            uncommitted.end(attempt)
            written(disposition)
        }
    }

    /// Before `run`, and before anything is submitted.
    func open() { batcher.open() }

    /// Writes what comes, until it is closed.
    func run() async { await batcher.run() }

    /// Everything was submitted: `run` ends when it is written.
    func close() { batcher.close() }
}

/// Writes one batch, whatever it takes.
private struct OutcomeBatchWriter<Kind: DeliveryKind>: Sendable {
    typealias Outcome = DeliveryOutcome<Kind.Consequence>

    let store: OutcomeStore<Kind>
    let gate: SendGate
    let intents: OpenGroups
    /// By the tokens of their leases.
    let leases = OpenGroups()
    let owner: String
    let writeTimeout: Duration
    let logger: Logger

    func write(_ outcomes: [Outcome]) async -> [OutcomeDisposition] {
        intents.answer(outcomes.compactMap(\.intent))
        leases.answer(outcomes.compactMap(\.lease).map { ($0.leaseToken, $0.leaseSize) })
        var mayBeWritten = false
        do {
            let groups = OutcomeGroups(intents: intents.answered, leases: leases.answered)
            return try await persist(outcomes, ending: groups, retrying: \.mayPass, mayBeWritten: &mayBeWritten)
        } catch let error as PostgresError where outcomes.count > 1 && !error.isUnavailable {
            // One of them may be at fault. Groups are forgotten with the next batch: until then one of these may still be lost.
            logger.error("outcomes could not be written together, trying one by one", metadata: ["error": "\(error)"])
            var dispositions: [OutcomeDisposition] = []
            for outcome in outcomes {
                do {
                    let groups = OutcomeGroups()
                    dispositions += try await persist([outcome], ending: groups, retrying: \.isUnavailable, mayBeWritten: &mayBeWritten)
                } catch {
                    dispositions += lose([outcome], error)
                }
            }
            return dispositions
        } catch {
            return lose(outcomes, error)
        }
    }

    private func lose(_ outcomes: [Outcome], _ error: any Error) -> [OutcomeDisposition] {
        logger.error(
            "outcomes could not be written; they will be recorded as unknown when their leases and intents run out",
            metadata: ["count": "\(outcomes.count)", "attemptId": "\(outcomes[0].attempt?.attemptId ?? "")", "error": "\(error)"]
        )
        for outcome in outcomes {
            if let number = outcome.intent { intents.abandon(number) }
            if let lease = outcome.lease { leases.abandon(lease.leaseToken) }
            store.kind.report(outcome, .lost)
        }
        return Array(repeating: .lost, count: outcomes.count)
    }

    /// - Parameters:
    ///   - mayPass: after which errors it is tried again, until `writeTimeout`.
    ///   - mayBeWritten: the answer to an earlier try, with these outcomes and perhaps others, was lost. Stays so.
    private func persist(
        _ outcomes: [Outcome],
        ending groups: OutcomeGroups,
        retrying mayPass: (PostgresError) -> Bool,
        mayBeWritten: inout Bool
    ) async throws -> [OutcomeDisposition] {
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(50)
        while true {
            do {
                let report = try await store.write(outcomes, ending: groups, of: owner, mayBeWritten: mayBeWritten)
                intents.discard(groups.intents)
                leases.discard(groups.leases)
                gate.add(report)
                log(report)
                for (outcome, disposition) in zip(outcomes, report.dispositions) { store.kind.report(outcome, disposition) }
                return report.dispositions
            } catch let error as PostgresError where mayPass(error) && ContinuousClock.now - start < writeTimeout {
                // The same transaction may have happened: then its deliveries have left their leases, attempts are known by their ids, and
                // timestamps only rise.
                if error.isUnavailable { mayBeWritten = true }
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    private func log(_ report: OutcomeReport) {
        for circuit in report.opened where circuit.refusals == 1 || circuit.since == circuit.lastRefusedAt {
            logger.error(
                circuit.scope.kind.isOutage
                    ? "a circuit opened: a provider fails, and its pushes are blocked until a probe succeeds"
                    : "a circuit opened: a credential is refused, and its pushes are blocked until it is accepted again",
                metadata: [
                    "provider": "\(circuit.scope.provider)", "app": "\(circuit.scope.app)", "environment": "\(circuit.scope.environment)",
                    "cause": "\(circuit.cause)", "credential": "\(circuit.scope.credential)",
                ]
            )
        }
        for scope in report.limitersOpened {
            logger.critical(
                "too many tokens are refused at once; none is deactivated until somebody decides: pushwatch limiters list",
                metadata: [
                    "provider": "\(scope.provider)", "app": "\(scope.app)", "environment": "\(scope.environment)",
                    "credential": "\(scope.credential)",
                ]
            )
        }
        for pause in report.paused {
            logger.warning(
                "a provider asked for fewer requests; its queues are paused",
                metadata: ["provider": "\(pause.provider)", "app": "\(pause.app)", "until": "\(pause.until)", "cause": "\(pause.cause)"]
            )
        }
    }
}

extension PostgresError {
    /// Not of what is written, but of the database or of others at work in it: a statement that waited too long for a lock, too.
    fileprivate var mayPass: Bool { isUnavailable || isSerializationConflict || code == .queryCancelled }
}
