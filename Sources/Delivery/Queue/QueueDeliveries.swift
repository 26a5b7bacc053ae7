import CoreMetrics
import Logging
import Postgres
import PushContract

/// Deliveries of the queue: moves each to where its outcome says.
struct QueueDeliveries: DeliveryKind {
    /// A slow provider answers many at once.
    static let batchLimit = 250
    /// No task waits for an outcome: the fewer transactions, the less each outcome costs.
    static let batchInterval = Duration.milliseconds(8)
    typealias Outcome = DeliveryOutcome<QueueConsequence>

    private let kinds: QueuedKinds
    private let endedFlights: EndedFlights
    private let logger: Logger

    /// - Parameter endedFlights: where flights are kept that could not be ended with their outcomes.
    init(kinds: QueuedKinds = .none, endedFlights: EndedFlights = EndedFlights(), logger: Logger) {
        self.kinds = kinds
        self.endedFlights = endedFlights
        self.logger = logger
    }

    func apply(_ outcomes: [Outcome], _ context: OutcomeContext, on connection: BlockingConnection) throws -> Set<Int> {
        var moves = outcomes.indices.compactMap { DeliveryMove(outcomes[$0], isTokenDeactivated: context.deactivated.contains($0)) }
        try replace(&moves, on: connection)
        let together = SentTogether.groups(of: moves.compactMap(\.sentAtFirst))
        for group in together { try group.insert(on: connection) }
        if !together.isEmpty {
            let recorded = Set(together.flatMap { $0.deliveries.map(\.deliveryId) })
            moves.removeAll { recorded.contains($0.deliveryId) }
        }
        try insertFinished(moves, on: connection)
        try insertDead(moves, on: connection)
        try insertScheduled(moves, on: connection)
        try insertBlocked(moves, context.circuits, on: connection)
        try SendEvents.record(moves.flatMap(\.events), on: connection)
        try kinds.apply(outcomes.indices.compactMap { outcomes[$0].consequence?.queued }, on: connection)
        return []
    }

    func report(_ outcome: Outcome, _ disposition: OutcomeDisposition) {
        guard let lease = outcome.lease else { return }
        switch disposition {
        case .lost: break
        case .stale:
            SendMetrics.stale.increment()
            logger.debug("a stale outcome was dropped", metadata: ["deliveryId": "\(lease.deliveryId)"])
        case .written, .tokenDeactivated, .deactivationDeferred:
            SendMetrics.count(outcome, isTokenDeactivated: disposition == .tokenDeactivated)
            if let queued = outcome.consequence?.queued { kinds.report(queued) }
            guard logger.logLevel <= .debug, let attempt = outcome.attempt else { return }
            // From the request to its pushes, and from there to the attempt's row.
            logger.debug(
                "a delivery was tried",
                metadata: [
                    "deliveryId": "\(lease.deliveryId)", "requestId": "\(attempt.requestId)", "attemptId": "\(attempt.attemptId)",
                    "status": "\(attempt.status.rawValue)", "reason": "\(attempt.reasonCode?.rawValue ?? "")",
                    "code": "\(attempt.providerErrorCode ?? "")", "detail": "\(outcome.detail)",
                ]
            )
        }
    }

    /// What a newer one has replaced is not attempted again, and what waited for a flight that has ended is due.
    private func replace(_ moves: inout [DeliveryMove], on connection: BlockingConnection) throws {
        let ended = moves.indices.compactMap { index in
            moves[index].lease.newestKeys.map { keys in
                var ended = NewestQueries.Ended(deliveryId: moves[index].deliveryId, keys: keys)
                if case .retry(let until, after: nil) = moves[index].next { ended.waitsUntil = until }
                return ended
            }
        }
        let (replaced, due, later) = try NewestQueries.finish(ended, on: connection)
        // Also if this transaction is not committed: the provider has answered.
        endedFlights.add(later)
        for index in moves.indices {
            switch moves[index].next {
            case .retry where replaced.contains(moves[index].deliveryId), .blocked where replaced.contains(moves[index].deliveryId):
                moves[index].next = .superseded
            case .retry(at: _, after: nil):
                if let now = due[moves[index].deliveryId] { moves[index].next = .retry(at: now, after: nil) }
            case .retry, .blocked, .sent, .cancelled, .superseded, .dead: break
            }
        }
    }

    private func insertFinished(_ moves: [DeliveryMove], on connection: BlockingConnection) throws {
        let rows = moves.indices.compactMap { index -> (key: DeliveryMove.Key, outcome: String, messageId: String?)? in
            switch moves[index].next {
            case .sent(let messageId): (moves[index].key, "sent", messageId.text)
            case .cancelled: (moves[index].key, "cancelled", nil)
            case .superseded: (moves[index].key, "superseded", nil)
            case .retry, .blocked, .dead: nil
            }
        }
        guard !rows.isEmpty else { return }
        try connection.executeLater(
            """
            INSERT INTO pushFinishedSingles (deliveryId, queue, outcome, attempts, providerMessageId, finishedAt)
            SELECT deliveryId, queue, outcome, attempts, messageId, clock_timestamp()
            FROM unnest(\(rows.map { $0.key.deliveryId }), \(rows.map { $0.key.queue }), \(rows.map { $0.outcome }), \(rows.map { $0.key.attempts }),
                \(rows.map { $0.messageId })) AS t(deliveryId, queue, outcome, attempts, messageId)
            """
        )
    }

    private func insertDead(_ moves: [DeliveryMove], on connection: BlockingConnection) throws {
        let rows = moves.indices.compactMap { index -> (key: DeliveryMove.Key, outcome: String, reason: String?, code: String?)? in
            guard case .dead(let outcome, let reason, let code) = moves[index].next else { return nil }
            return (moves[index].key, outcome.rawValue, reason?.rawValue, code)
        }
        guard !rows.isEmpty else { return }
        try connection.executeLater(
            """
            INSERT INTO pushDead (deliveryId, queue, outcome, attempts, reasonCode, providerErrorCode, finishedAt)
            SELECT deliveryId, queue, outcome, attempts, reason::pushReason, code, clock_timestamp()
            FROM unnest(\(rows.map { $0.key.deliveryId }), \(rows.map { $0.key.queue }), \(rows.map { $0.outcome }), \(rows.map { $0.key.attempts }),
                \(rows.map { $0.reason }), \(rows.map { $0.code })) AS t(deliveryId, queue, outcome, attempts, reason, code)
            """
        )
    }

    private func insertScheduled(_ moves: [DeliveryMove], on connection: BlockingConnection) throws {
        let rows = moves.indices.compactMap { index -> (key: DeliveryMove.Key, runAt: Timestamp, reason: String?)? in
            guard case .retry(let runAt, let reason) = moves[index].next else { return nil }
            return (moves[index].key, runAt, reason?.rawValue)
        }
        guard !rows.isEmpty else { return }
        try connection.executeLater(
            """
            INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber, reasonCode)
            SELECT deliveryId, queue, runAt, attemptNumber, reason::pushReason
            FROM unnest(\(rows.map { $0.key.deliveryId }), \(rows.map { $0.key.queue }), \(rows.map { $0.runAt }), \(rows.map { $0.key.attempts + 1 }),
                \(rows.map { $0.reason })) AS t(deliveryId, queue, runAt, attemptNumber, reason)
            """
        )
    }

    private func insertBlocked(_ moves: [DeliveryMove], _ circuits: [CircuitScope: Circuit], on connection: BlockingConnection) throws {
        let rows = moves.indices.compactMap { index -> (key: DeliveryMove.Key, expiresAt: Timestamp, circuit: Int64?, reason: String?)? in
            guard case .blocked(let circuit, let reason) = moves[index].next else { return nil }
            let expiresAt = moves[index].lease.expiresAt
            switch circuit {
            case .open(let id): return (moves[index].key, expiresAt, id, reason?.rawValue)
            case .opening(let opening): return (moves[index].key, expiresAt, circuits[opening.scope]?.id, reason?.rawValue)
            }
        }
        guard !rows.isEmpty else { return }
        // A circuit that closed meanwhile blocks nothing: then it is due now.
        try connection.executeLater(
            """
            INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber, reasonCode, circuitId)
            SELECT t.deliveryId, t.queue, CASE WHEN h.circuitId IS NULL THEN clock_timestamp() ELSE t.expiresAt END, t.attemptNumber,
                t.reason::pushReason, h.circuitId
            FROM unnest(\(rows.map { $0.key.deliveryId }), \(rows.map { $0.key.queue }), \(rows.map { $0.expiresAt }),
                \(rows.map { $0.key.attempts + 1 }), \(rows.map { $0.reason }), \(rows.map { $0.circuit }))
                AS t(deliveryId, queue, expiresAt, attemptNumber, reason, circuitId)
            LEFT JOIN pushCircuits h ON h.circuitId = t.circuitId AND h.closedAt IS NULL
            """
        )
        // As long as few deliveries were refused, or may be, one of them may be at fault and not the credential: a new one is the next
        // probe.
        let fresh = Set(rows.compactMap { $0.reason == nil && $0.key.attempts == 0 ? $0.circuit : nil })
        guard !fresh.isEmpty else { return }
        try connection.executeLater(
            """
            UPDATE pushCircuits h SET nextProbeAt = clock_timestamp()
            WHERE circuitId = ANY(\(fresh.sorted())) AND closedAt IS NULL AND kind = 'refused' AND nextProbeAt > clock_timestamp()
              AND refusals - probes < \(CircuitDecision.firstProbes)
              AND (SELECT count(*) FROM (
                  SELECT FROM pushScheduled s WHERE s.circuitId = h.circuitId AND s.attemptNumber > 1
                  UNION ALL SELECT FROM pushLeases l WHERE l.probeOf = h.circuitId
                  LIMIT \(CircuitDecision.firstProbes)
              ) tried) < \(CircuitDecision.firstProbes)
            """
        )
    }
}
