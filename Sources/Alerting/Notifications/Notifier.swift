import Foundation
package import HTTPClient
package import Logging
package import Postgres
package import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Sends one request to a receiver; `CurlClient.send` in service, an in-process server or a closure in tests.
package typealias AlertHTTP = @Sendable (OutboundRequest) async throws -> OutboundResponse

/// Hands one mail to its server; `SMTPClient.send` in service.
package typealias AlertMail = @Sendable (OutboundMail) async throws -> MailReply

/// Delivers pending notifications: at least once, in order per alert and receiver, never "firing" after "resolved".
///
/// Any number may run against one database: the one that holds the lease works. A message is taken for longer than its sending can
/// last, so a takeover does not send it a second time while the first is under way.
package final class Notifier: Service, Sendable {
    private struct State {
        var lease: AlertLease?
        var extendedAt: ContinuousClock.Instant?
    }

    static let leaseName = "notifier"

    private let pool: PostgresPool
    private let receivers: ReceiverRegistry
    private let send: AlertHTTP
    private let mail: AlertMail
    private let configuration: NotifierConfiguration
    private let logger: Logger
    private let clock: any Clock<Duration>
    private let now: (@Sendable () -> Timestamp)?
    private let jitter: @Sendable () -> Double
    private let holder: String
    private let metrics = NotifierMetrics()
    private let state = Mutex(State())

    /// `now`: used instead of the database's clock, where the time is simulated.
    package init(
        pool: PostgresPool,
        receivers: ReceiverRegistry,
        configuration: NotifierConfiguration,
        logger: Logger,
        clock: any Clock<Duration> = ContinuousClock(),
        now: (@Sendable () -> Timestamp)? = nil,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) },
        mail: @escaping AlertMail = { try await SMTPClient.send($0) },
        send: @escaping AlertHTTP
    ) {
        self.pool = pool
        self.receivers = receivers
        self.configuration = configuration
        self.logger = logger
        self.clock = clock
        self.now = now
        self.jitter = jitter
        self.send = send
        self.mail = mail
        holder = UUID().uuidString
    }

    /// Works until shutdown, after which deliveries under way are finished. Each message is sent by a task of its own, on connections of
    /// its receiver alone and with its own deadline, so a receiver that hangs delays only itself.
    package func run() async throws {
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                do {
                    for (messages, lease) in try await claimDue() {
                        group.addTask { await self.deliverLogging(messages, lease) }
                    }
                } catch is CancellationError {
                    break
                } catch {
                    logger.log(
                        level: .error.unlessOutage(error),
                        "notifications could not be claimed; retrying",
                        metadata: ["error": "\(error)"]
                    )
                }
                await cancelWhenGracefulShutdown { [clock, configuration] in
                    try? await clock.sleep(for: configuration.pollInterval, tolerance: nil)
                }
            }
        }
        try? await release()
    }

    /// Delivers what is due, to the end of every delivery. Returns how many messages were tried.
    @discardableResult
    package func deliverDue() async throws -> Int {
        let claimed = try await claimDue()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (messages, lease) in claimed { group.addTask { try await self.deliver(messages, lease) } }
            try await group.waitForAll()
        }
        return claimed.reduce(0) { $0 + $1.0.count }
    }

    /// Lets another instance take over at once.
    package func release() async throws {
        guard let lease = state.withLock({ $0.lease }) else { return }
        try await AlertLeaseStore.release(lease, on: pool)
    }

    /// Claims what is due and not leased, within the limit of each receiver: pages separately, others together where they are grouped.
    private func claimDue() async throws -> [([ClaimedNotification], AlertLease)] {
        receivers.refresh()
        guard let lease = try await lease() else { return [] }
        metrics.begin(receivers.set.receivers.map(\.name))
        let now = lease.now(now)
        try await escalate(lease, at: now)
        let waiting = try await NotificationStore.waiting(on: pool)
        metrics.outbox(count: waiting.count, oldest: waiting.oldest)
        guard waiting.count > 0 else { return [] }
        do {
            let claimed = try await pool.withTransaction { transaction in
                try await AlertLeaseStore.fence(lease, in: transaction)
                let claim = NotificationClaim(
                    lease: lease,
                    receivers: receivers.set,
                    perReceiver: configuration.parallelPerReceiver,
                    duration: configuration.claimDuration,
                    externalURL: configuration.externalURL,
                    now: now
                )
                return try await claim.single(in: transaction).map { [$0] } + (try await claim.grouped(in: transaction))
            }
            return claimed.map { ($0, lease) }
        } catch is LeaseLost {
            state.withLock { $0.lease = nil }
            return []
        }
    }

    /// A page that reaches nobody, or that nobody acknowledges, goes to further receivers.
    private func escalate(_ lease: AlertLease, at now: Timestamp) async throws {
        do {
            try await EscalationPass(pool: pool, lease: lease, receivers: receivers.set, logger: logger, now: now).run()
        } catch is LeaseLost {
            state.withLock { $0.lease = nil }
        } catch let error where !(error is CancellationError) {
            logger.log(
                level: .error.unlessOutage(error),
                "pages could not be escalated; this is tried again",
                metadata: ["error": "\(error)"]
            )
        }
    }

    /// The lease, extended when a third of it has passed: an empty outbox is polled without writes.
    private func lease() async throws -> AlertLease? {
        let (current, since) = state.withLock { ($0.lease, $0.extendedAt) }
        if let current, let since, ContinuousClock.now - since < configuration.leaseDuration / 3 { return current }
        let claimed = try await AlertLeaseStore.claim(Self.leaseName, holder: holder, for: configuration.leaseDuration, on: pool)
        state.withLock {
            $0.lease = claimed
            $0.extendedAt = .now
        }
        return claimed
    }

    private func deliverLogging(_ claimed: [ClaimedNotification], _ lease: AlertLease) async {
        do {
            try await deliver(claimed, lease)
        } catch {
            // The claim runs out, and the message is sent again under the same id.
            logger.error("a notification attempt could not be recorded", metadata: ["error": "\(error)"])
        }
    }

    /// Notifications of one receiver, sent in one message.
    private func deliver(_ claimed: [ClaimedNotification], _ lease: AlertLease) async throws {
        let (outcomes, messageId) = await attempt(claimed, lease)
        let sent = outcomes.filter { $0.result != .superseded }
        let keepsMessageId = messageId != nil && sent.allSatisfy { $0.result == .retry }
        do {
            // All or none: a message is settled as a whole.
            try await pool.withTransaction { transaction in
                try await AlertLeaseStore.fence(lease, in: transaction)
                for (one, outcome) in zip(claimed, outcomes) {
                    let id = outcome.result == .superseded ? nil : messageId
                    try await NotificationStore.settle(
                        one,
                        outcome,
                        messageId: id,
                        keepsMessageId: keepsMessageId,
                        lease: lease,
                        now: lease.now(now),
                        in: transaction
                    )
                }
            }
        } catch let error as LeaseLost {
            // The new notifier sends it again, under the same id.
            logger.warning("a notification attempt is left to the new notifier", metadata: ["error": "\(error)"])
            return
        }
        for (one, outcome) in zip(claimed, outcomes) {
            metrics.delivered(one.message.receiver, outcome)
            report(one.message, outcome)
        }
    }

    private func attempt(
        _ claimed: [ClaimedNotification],
        _ lease: AlertLease
    ) async -> (outcomes: [NotificationOutcome], messageId: String?) {
        let now = lease.now(now)
        let name = claimed[0].message.receiver
        guard let configured = receivers.set.receivers.first(where: { $0.name == name }) else {
            // It was removed since the claim.
            let outcome = NotificationOutcome(result: .retry, latency: .zero, error: NotificationStore.notConfigured, nextAttemptAt: now)
            return (claimed.map { _ in outcome }, nil)
        }
        let attempt = NotificationAttempt(
            receiver: configured.receiver,
            secrets: configured.receiver.secrets,
            send: send,
            mail: mail,
            logger: logger,
            giveUpAfter: configuration.giveUpAfter,
            jitter: jitter()
        )
        return await attempt.run(together: claimed, now: now)
    }

    private func report(_ message: AlertNotification, _ outcome: NotificationOutcome) {
        let metadata: Logger.Metadata = [
            "receiver": "\(message.receiver)", "alert": "\(message.rule)", "alertId": "\(message.alertId.uuidString.lowercased())",
            "kind": "\(message.kind.rawValue)", "error": "\(outcome.error ?? "")",
        ]
        switch outcome.result {
        case .delivered where outcome.error != nil: logger.warning("notification delivered in part", metadata: metadata)
        case .delivered, .superseded: logger.debug("notification delivered", metadata: metadata)
        case .retry: logger.warning("notification failed; it will be retried", metadata: metadata)
        case .deadLettered, .undelivered: logger.error("notification failed and is not retried", metadata: metadata)
        }
    }
}
