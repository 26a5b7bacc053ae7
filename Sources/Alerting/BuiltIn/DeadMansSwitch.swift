import HTTPClient
package import Logging
import Metrics
package import Postgres
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Calls a URL every minute as long as alerts are evaluated and delivered: the external monitor pages when the calls stop.
///
/// The monitor must not share our database, host or network: it alone notices that all of Pushwatch is down.
package struct DeadMansSwitch: Service {
    /// An evaluation older than this, or a page pending for longer, is no sign of life.
    static let maxSilence = Duration.seconds(180)

    private let url: String
    private let pool: PostgresPool
    private let evaluator: RuleEvaluator
    private let receivers: ReceiverRegistry
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let now: (@Sendable () -> Timestamp)?
    private let send: AlertHTTP

    /// `now`: used instead of the database's clock, where the time is simulated.
    package init(
        url: String,
        pool: PostgresPool,
        evaluator: RuleEvaluator,
        receivers: ReceiverRegistry,
        logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        now: (@Sendable () -> Timestamp)? = nil,
        send: @escaping AlertHTTP
    ) {
        self.url = url
        self.pool = pool
        self.evaluator = evaluator
        self.receivers = receivers
        self.logger = logger
        self.clock = clock
        self.now = now
        self.send = send
    }

    package func run() async throws {
        let minute = Duration.seconds(60)
        try await PeriodicService("heartbeat URL", every: minute, initialDelay: minute, clock: clock, logger: logger) {
            await check()
        }.run()
    }

    /// One check, and one call if all is well. Returns whether the call was made and answered with 2xx.
    ///
    /// An instance that waits for the evaluator's lease stays silent: the one that works makes the call.
    @discardableResult
    package func check() async -> Bool {
        do {
            guard let evaluated = evaluator.succeededAt else { return false }
            let now = if let now { now() } else { try await DatabaseClock.read(on: pool) }
            guard now - evaluated < Self.maxSilence, try await isDelivering(since: now - Self.maxSilence) else { return false }
            var request = OutboundRequest(method: "GET", url: url, headers: [], body: [], timeout: .seconds(10))
            request.connectionGroup = "heartbeat URL"
            let answer = try await send(request)
            let isHealthy = (200..<300).contains(answer.status)
            count(isHealthy ? "answered" : "refused")
            if !isHealthy { logger.warning("the heartbeat URL refused the call", metadata: ["status": "\(answer.status)"]) }
            return isHealthy
        } catch {
            // The URL is a secret, so what the client says about it is not logged.
            let reason =
                (error as? OutboundFailure).map { "\($0.kind)" } ?? (error as? PostgresError).map(\.description) ?? "\(type(of: error))"
            count("failed")
            logger.warning("the heartbeat URL was not called", metadata: ["reason": "\(reason)"])
            return false
        }
    }

    /// A notifier has its lease, and if pages are overdue, other notifications were attempted meanwhile. Those that are no pages may wait
    /// for their group or the end of quiet hours; `ReceiverUnreachable` is about receivers that are not configured.
    private func isDelivering(since: Timestamp) async throws -> Bool {
        let configured = receivers.set.receivers.map(\.name)
        let rows = try await pool.query(
            """
            SELECT EXISTS (SELECT FROM alertLeases WHERE name = \(Notifier.leaseName) AND expiresAt > clock_timestamp())
               AND (EXISTS (SELECT FROM (SELECT attemptedAt FROM notificationAttempts ORDER BY notificationAttemptId DESC LIMIT 1) newest
                            WHERE attemptedAt > \(since))
                    OR NOT EXISTS (SELECT FROM notifications o JOIN alerts e USING (alertId)
                                   WHERE o.state = 'pending' AND o.leaseUntil IS NULL AND o.nextAttemptAt < \(since)
                                     AND o.receiver = ANY(\(configured)) AND e.silencedBy IS NULL AND \(NotificationStore.isPage)
                                     AND NOT EXISTS (SELECT FROM notifications first
                                                     WHERE first.alertId = o.alertId AND first.receiver = o.receiver
                                                       AND first.state = 'pending' AND first.seq < o.seq)))
            """
        )
        return try rows[0].decode(Bool.self)
    }

    private func count(_ result: String) {
        Counter(label: "pushwatch_alert_heartbeat_calls_total", dimensions: [("result", result)]).increment()
    }
}
