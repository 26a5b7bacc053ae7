package import HTTPClient
package import Logging
import Metrics
package import Postgres
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Posts the outcomes of sends to the configured webhooks: at least once, in the order of the stream, in batches. What fails is retried at
/// the same position; a webhook that hangs or fails delays only itself.
///
/// Any number of instances may run: for each webhook the one that holds its lease sends.
package struct OutcomeWebhookSender: Service {
    package typealias Send = @Sendable (OutboundRequest) async throws -> OutboundResponse

    /// How often it looks for new outcomes.
    private static let interval = Duration.milliseconds(500)

    private let webhooks: [OutcomeWebhook]
    private let store: OutcomeWebhookStore
    private let stream: OutcomeStream
    private let holder: String
    private let send: Send
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    /// - Parameters:
    ///   - pool: of the primary.
    ///   - holder: names this process.
    package init(
        _ webhooks: [OutcomeWebhook],
        pool: PostgresPool,
        holder: String,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = Timestamp.now,
        send: @escaping Send
    ) {
        self.webhooks = webhooks
        store = OutcomeWebhookStore(pool: pool)
        stream = OutcomeStream(pool: pool)
        self.holder = holder
        self.send = send
        self.now = now
        self.logger = logger
    }

    /// What one webhook's task remembers between looks.
    struct Memory: Sendable {
        var position: OutcomeWebhookStore.Position?
        var claimedAt = ContinuousClock.now
        /// How far the stream was searched, with nothing to send.
        var seen: OutcomeCursor?
    }

    package func run() async throws {
        await withDiscardingTaskGroup { group in
            for webhook in webhooks {
                group.addTask {
                    try? await PeriodicService(
                        "outcomes to \(webhook.name)",
                        every: Self.interval,
                        retryInterval: .seconds(1),
                        shutdown: .awaitsBody,
                        logger: logger,
                        state: Memory()
                    ) { memory in
                        while try await deliver(webhook, &memory), !Task.isShuttingDownGracefully {}
                    }.run()
                    try? await release(webhook)
                }
            }
        }
    }

    /// Lets another instance continue at once.
    func release(_ webhook: OutcomeWebhook) async throws { try await store.release(webhook.name, holder: holder) }

    /// Sends one batch; whether there may be more at once.
    func deliver(_ webhook: OutcomeWebhook, _ memory: inout Memory) async throws -> Bool {
        guard let position = try await position(of: webhook, &memory) else { return false }
        let now = now()
        guard position.nextAttemptAt <= position.now else {
            // Read again, by the database's clock, at the next look.
            memory.position = nil
            return false
        }
        let from = memory.seen ?? position.cursor
        let page: OutcomeStream.Page
        do {
            page = try await stream.page(after: from, webhook.filter, limit: OutcomeWebhook.batchLimit)
        } catch is OutcomeStream.CursorAhead {
            return try await restart(webhook, &memory, ahead: from)
        }
        guard !page.outcomes.isEmpty else {
            memory.seen = page.next
            return page.next != from
        }
        let request = webhook.request(page.outcomes, now: now)
        var verdict: ResponseVerdict?
        var error: String
        do {
            let response = try await send(request)
            verdict = ResponseVerdict(status: response.status, retryAfter: response.header("retry-after"), now: now)
            error = "HTTP \(response.status)"
        } catch is CancellationError {
            throw CancellationError()
        } catch let failure {
            error = webhook.redacted("\(failure)")
        }
        let since = position.failingSince ?? now
        let next = OutcomeWebhookDecision.next(
            verdict,
            failures: position.failures + 1,
            failingSince: since,
            now: now,
            jitter: .random(in: 0..<1)
        )
        count(webhook, next, outcomes: page.outcomes.count)
        memory.seen = nil
        switch next {
        case .retry(let at):
            logger.warning(
                "outcomes could not be sent to a webhook; they will be sent again",
                metadata: ["webhook": "\(webhook.name)", "error": "\(error)", "failures": "\(position.failures + 1)"]
            )
            try await store.fail(webhook.name, position, error: error, failingSince: since, nextAttemptAt: at)
            memory.position = nil
            return false
        case .skip:
            logger.error(
                "outcomes were refused for a day and are left out: pushwatch sends webhooks",
                metadata: [
                    "webhook": "\(webhook.name)", "error": "\(error)", "after": "\(position.cursor.text)", "to": "\(page.next.text)",
                ]
            )
            return try await advance(webhook, &memory, to: page.next, delivered: false, skipped: (page.outcomes.count, error))
        case .delivered:
            return try await advance(webhook, &memory, to: page.next, delivered: true)
        }
    }

    /// The database was restored or failed over, and does not have the outcomes up to `cursor`. Whether there may be more to send at once.
    private func restart(_ webhook: OutcomeWebhook, _ memory: inout Memory, ahead cursor: OutcomeCursor) async throws -> Bool {
        // The stored position was restored with the outcomes. What this process remembers was not.
        memory = Memory()
        guard let position = try await position(of: webhook, &memory) else { return false }
        guard position.cursor == cursor else { return true }
        let end = try await stream.end()
        guard try await advance(webhook, &memory, to: end, delivered: false) else { return false }
        logger.error(
            "a webhook was ahead of the outcomes, as after a restore, and continues at their end: pushwatch sends replay",
            metadata: ["webhook": "\(webhook.name)", "cursor": "\(cursor.text)", "end": "\(end.text)"]
        )
        return true
    }

    private func advance(
        _ webhook: OutcomeWebhook,
        _ memory: inout Memory,
        to cursor: OutcomeCursor,
        delivered: Bool,
        skipped: (count: Int, error: String)? = nil
    ) async throws -> Bool {
        guard var position = memory.position else { return false }
        let isWritten = try await store.advance(webhook.name, position, to: cursor, delivered: delivered, skipped: skipped)
        position.cursor = cursor
        position.failures = 0
        position.failingSince = nil
        memory.position = isWritten ? position : nil
        return isWritten
    }

    /// The webhook's position, if this process has its lease, which is extended when a third of it has passed.
    private func position(of webhook: OutcomeWebhook, _ memory: inout Memory) async throws -> OutcomeWebhookStore.Position? {
        if let position = memory.position, ContinuousClock.now - memory.claimedAt < OutcomeWebhookStore.lease / 3 { return position }
        // What was searched is behind it, also for who has the lease next: a search may take longer than a lease.
        if let position = memory.position, let seen = memory.seen { try await store.note(webhook.name, position, searchedTo: seen) }
        memory.claimedAt = .now
        memory.position = try await store.claim(webhook.name, holder: holder, end: try await stream.end())
        memory.seen = nil
        return memory.position
    }

    private func count(_ webhook: OutcomeWebhook, _ next: OutcomeWebhookDecision, outcomes: Int) {
        let result =
            switch next {
            case .delivered: "delivered"
            case .retry: "failed"
            case .skip: "dead_lettered"
            }
        Counter(label: "pushwatch_outcome_webhooks_total", dimensions: [("webhook", webhook.name), ("result", result)]).increment(
            by: outcomes
        )
    }
}
