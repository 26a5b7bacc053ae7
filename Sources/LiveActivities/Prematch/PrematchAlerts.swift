package import Delivery
import HTTPServer
package import Logging
package import Postgres
package import PushContract
package import ServiceKit
import ServiceLifecycle

/// Alerts before matches: one send to all devices of a match's followers at a set time before its start, at most once for each follower.
///
/// A send is named by match and start. A start that moves therefore has another send, to followers that the earlier one did not reach; what
/// waits of the earlier one is cancelled, as it is when the match does not begin. A start that is given again after that has another send,
/// with a number. Any number of instances may run it.
package struct PrematchAlerts: Service {
    /// The text that the send names; its placeholders are `title` and `minutes`.
    package static let text = "prematch"
    private static let author = "pushwatch prematch"

    private let pool: PostgresPool
    private let sends: SendStore
    private let check: SendStore.PayloadCheck
    private let lead: Duration
    private let wake: WakeSignal
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    /// - Parameters:
    ///   - lead: how long before the start.
    ///   - wake: signalled when something was put into the queue.
    package init(
        pool: PostgresPool,
        sends: SendStore,
        check: @escaping SendStore.PayloadCheck,
        lead: Duration,
        wake: WakeSignal = WakeSignal(),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Timestamp = { .now() },
        logger: Logger
    ) {
        self.pool = pool
        self.sends = sends
        self.check = check
        self.lead = lead
        self.wake = wake
        self.clock = clock
        self.now = now
        self.logger = logger
    }

    package func run() async throws {
        try await PeriodicService("prematch alerts", every: .seconds(10), clock: clock, logger: logger) { try await look() }.run()
    }

    /// Cancels what does not hold any more, then sends what is due. What fails keeps no other match waiting; the next look tries it again.
    package func look() async throws {
        let now = now()
        // To whom one of these is still due, another of the match must not be stored: it would leave them out for good.
        var waiting: Set<String> = []
        for row in try await pool.query(PrematchQueries.outdated(author: Self.author, lead: lead, now: now)) {
            let sendId = try row.decode(String.self)
            do {
                _ = try await sends.cancel(sendId, author: Self.author)
            } catch {
                try Task.checkCancellation()
                waiting.insert(DueMatch.matchId(ofSend: sendId))
                logger.warning(
                    "an alert before a match could not be cancelled; trying again",
                    metadata: ["sendId": "\(sendId)", "error": "\(error)"]
                )
            }
        }
        for match in try await pool.query(PrematchQueries.due(author: Self.author, lead: lead, now: now)).map(DueMatch.init)
        where !waiting.contains(match.matchId) {
            do {
                try await alertFollowers(of: match, now: now)
            } catch {
                try Task.checkCancellation()
                logger.warning(
                    "followers could not be alerted before a match; trying again",
                    metadata: ["matchId": "\(match.matchId)", "error": "\(error)"]
                )
            }
        }
    }

    private func alertFollowers(of match: DueMatch, now: Timestamp) async throws {
        let request = try match.request(now: now)
        let receipts = try await sends.enqueue([request], requestId: match.sendId, author: Self.author, now: now, check: check)
        guard case .accepted(let deliveries, _)? = receipts.first else { return }
        wake.signal()
        logger.info("followers are alerted before a match", metadata: ["matchId": "\(match.matchId)", "deliveries": "\(deliveries)"])
    }
}
