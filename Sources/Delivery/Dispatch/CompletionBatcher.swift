import Attempts
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
    private let sendGate: SendGate
    private let delays: RetryDelays
    private let writeTimeout: Duration
    private let uncommitted: UncommittedOutcomes
    private let logger: Logger
    private var waiting: [Waiting] = []
    private var isWriting = false

    /// - Parameters:
    ///   - patience: how long a batch is tried while the database is away.
    ///   - uncommitted: told what waits here.
    init(
        store: SendStore,
        sendGate: SendGate,
        delays: RetryDelays,
        writeTimeout: Duration,
        uncommitted: UncommittedOutcomes,
        logger: Logger
    ) {
        self.store = store
        self.sendGate = sendGate
        self.delays = delays
        self.writeTimeout = writeTimeout
        self.uncommitted = uncommitted
        self.logger = logger
    }

    /// Returns when the completion is committed, found stale, or given up.
    func submit(_ completion: Completion) async {
        await uncommitted.during(completion.attempt?.attemptedAt, arrivedAt: .now()) { await gather(completion) }
    }

    private func gather(_ completion: Completion) async {
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
            let written = try await persist(completions)
            sendGate.add(written)
            report(completions, written)
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

    private func persist(_ completions: [Completion]) async throws -> CompletionReport {
        let start = ContinuousClock.now
        var pause = Duration.milliseconds(50)
        while true {
            do {
                return try await store.complete(completions, delays: delays)
            } catch let error as PostgresError where error.isUnavailable && ContinuousClock.now - start < writeTimeout {
                // The same transaction may have happened: then the leases are gone and the repetition changes nothing.
                try await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    private func report(_ completions: [Completion], _ written: CompletionReport) {
        for circuit in written.opened where circuit.refusals == 1 || circuit.since == circuit.lastRefusedAt {
            logger.error(
                "a credential is refused; what needs it is held until it is mended",
                metadata: [
                    "provider": "\(circuit.scope.provider)", "app": "\(circuit.scope.app)", "environment": "\(circuit.scope.environment)",
                    "cause": "\(circuit.cause)", "credential": "\(circuit.scope.credential)",
                ]
            )
        }
        for scope in written.limitersOpened {
            logger.critical(
                "too many tokens are refused at once; none is switched off until somebody decides: pushwatch limiters list",
                metadata: [
                    "provider": "\(scope.provider)", "app": "\(scope.app)", "environment": "\(scope.environment)",
                    "credential": "\(scope.credential)",
                ]
            )
        }
        for pause in written.paused {
            logger.warning(
                "a provider asked for fewer requests; its queues are paused",
                metadata: ["provider": "\(pause.provider)", "app": "\(pause.app)", "until": "\(pause.until)", "cause": "\(pause.cause)"]
            )
        }
        for completion in completions {
            guard let wentOff = written.completed[completion.deliveryId] else {
                SendMetrics.stale.increment()
                logger.debug("a stale outcome was dropped", metadata: ["deliveryId": "\(completion.deliveryId)"])
                continue
            }
            SendMetrics.count(completion, isTokenDeactivated: wentOff)
            if let attempt = completion.attempt { logger.debug("a delivery was tried", metadata: names(of: attempt, completion)) }
        }
    }

    /// What leads from the request to its pushes, and from there to the attempt's row.
    private func names(of attempt: Attempt, _ completion: Completion) -> Logger.Metadata {
        [
            "requestId": "\(attempt.requestId)", "deliveryId": "\(completion.deliveryId)", "attemptId": "\(attempt.attemptId)",
            "status": "\(attempt.status.rawValue)", "reason": "\(attempt.reasonCode?.rawValue ?? "")",
        ]
    }
}
