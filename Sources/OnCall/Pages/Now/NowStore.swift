import AlertRules
import Alerting
import Delivery
import Postgres
import PushContract

/// Reads what the pages show: rollups, queue and alerts, in a few indexed queries, never the attempts themselves.
struct NowStore: Sendable {
    /// Minutes of traffic on the page *Now*.
    static let minutes = 180

    private let pool: PostgresPool
    private let rules: RuleRegistry
    private let receivers: ReceiverRegistry?
    private let backlog: @Sendable () async throws -> Backlog
    private let throttles: @Sendable () async throws -> [SendThrottle]

    /// - Parameters:
    ///   - receivers: asked for what is wrong with their file.
    ///   - backlog: of `SendStore`.
    ///   - throttles: those in force, of `ThrottleStore`.
    init(
        pool: PostgresPool,
        rules: RuleRegistry,
        receivers: ReceiverRegistry? = nil,
        backlog: @escaping @Sendable () async throws -> Backlog,
        throttles: @escaping @Sendable () async throws -> [SendThrottle]
    ) {
        self.pool = pool
        self.rules = rules
        self.receivers = receivers
        self.backlog = backlog
        self.throttles = throttles
    }

    func read(now: Timestamp) async throws -> NowData {
        // An instance that evaluates nothing reads the files here.
        rules.refresh()
        receivers?.refresh()
        return NowData(
            firing: try await AlertStore.open(on: pool),
            recent: try await AlertStore.lastResolved(limit: 5, on: pool),
            silences: try await SilenceStore.current(at: now, on: pool),
            traffic: try await traffic(now: now),
            backlog: try await backlog(),
            throttles: try await throttles(),
            notificationHealth: try await notificationHealth(now: now),
            evaluation: try await evaluation(now: now)
        )
    }

    /// Closed minutes only: the present one is not complete and would look like a drop.
    private func traffic(now: Timestamp) async throws -> Traffic {
        let to = now.flooredToMinute()
        let from = to - .seconds(Self.minutes * 60)
        let cells = try await pool.query(NowQueries.traffic(from: from, to: to)).compactMap { row -> TrafficCell? in
            let (minute, provider, reason, attempts, latency, count) = try row.decode((Int64, String, String, Int64, Int64, Int64).self)
            guard let provider = Provider(rawValue: provider) else { return nil }
            return TrafficCell(
                minute: minute,
                provider: provider,
                reason: ReasonCode(rawValue: reason),
                attempts: attempts,
                latencyMsSum: latency,
                latencyCount: count
            )
        }
        return Traffic(from: from, minutes: Self.minutes, cells: cells)
    }

    private func notificationHealth(now: Timestamp) async throws -> NotificationHealth {
        let last = try await pool.query(NowQueries.lastNotificationAttempt).first.map { row in
            let (receiver, result, at, status, error) = try row.decode((String, String, Timestamp, Int?, String?).self)
            return NotificationHealth.Last(receiver: receiver, result: result, attemptedAt: at, status: status, error: error)
        }
        let (pending, oldest) = try await pool.query(NowQueries.pendingNotifications)[0].decode((Int, Timestamp?).self)
        let lost = try await pool.query(NowQueries.lostNotifications(since: now - .seconds(86_400)))[0].decode(Int.self)
        return NotificationHealth(last: last, pending: pending, oldestPendingAt: oldest, lost: lost, fileFault: receivers?.fault)
    }

    private func evaluation(now: Timestamp) async throws -> EvaluationHealth {
        let rules = rules.rules
        let names = Set(rules.map(\.name))
        let progress = try await RuleProgress.all(on: pool).filter { names.contains($0.rule) }
        let evaluated = Set(progress.map(\.rule))
        let overdue = self.rules.rules(knownFor: EvaluationHealth.waitLimit).filter { !evaluated.contains($0.name) }
        return EvaluationHealth(
            rules: rules.count,
            evaluated: progress.count,
            through: RuleProgress.through(progress, rules: rules, last: .lastClosed(before: now)),
            faults: self.rules.findings.filter { $0.severity == .error }.map(\.description),
            lateAttempts: try await LateAttemptStore.count(since: now - .seconds(86_400), on: pool),
            neverEvaluated: overdue.count
        )
    }
}
