import CoreMetrics
package import Delivery
package import Postgres
import Providers
package import PushContract

/// The push that starts an activity.
package struct LiveStart: QueuedKind {
    static let kind = "liveStart"
    /// A start that could not be sent for so long is made anew if it is still wanted.
    static let giveUpAfter = Duration.seconds(4 * 3600)

    /// What an attempt carried.
    struct Note: Sendable, Hashable {
        var timestamp: Int64
        var stateHash: String
        /// What the started activity listens to instead of bringing a token.
        var channelId: String?
        /// Shown instead of the start's own alert, if it fits.
        var due = DueAlerts()
    }

    private let pool: PostgresPool
    private let subjects: SubjectStore
    private let policies: (starts: StartPolicy, channels: ChannelPolicy)
    private let cipher: TokenCipher
    private let now: @Sendable () -> Timestamp

    package init(
        pool: PostgresPool,
        policy: StartPolicy = StartPolicy(),
        channels: ChannelPolicy = ChannelPolicy(),
        cipher: TokenCipher,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.pool = pool
        subjects = SubjectStore(pool: pool)
        policies = (policy, channels)
        self.cipher = cipher
        self.now = now
    }

    package var name: String { LiveStart.kind }
    /// A start that may have arrived is not sent again before its grace is over: two would show two cards.
    package var policy: DeliveryPolicy { .atMostOnce }

    package func identity(of delivery: QueuedDelivery) -> AttemptIdentity { ActivityKey(delivery).attempt("start", of: delivery) }

    /// The newest state. A start is not wanted any more when its activity ended or has a token, its subject is not live, the device has
    /// another start token, or the app starts the activity by itself.
    package func contents(of deliveries: [QueuedDelivery]) async throws -> [Int64: QueuedContent] {
        let now = now()
        let live = try await subjects.named(deliveries.map { ActivityKey($0).subject }).filter {
            $0.value.isLive && $0.value.isFresh(now: now)
        }
        let wanted = deliveries.filter { live[ActivityKey($0).subject] != nil }
        guard !wanted.isEmpty else { return [:] }
        var keys = KeyColumns()
        for delivery in wanted { keys.append(ActivityKey(delivery)) }
        let columns: Query = "\(wanted.map(\.deliveryId)), \(keys.columns), \(wanted.map(\.tokenHash.rawValue))"
        let rows = try await pool.query(StartQueries.send(columns, policies.starts, policies.channels, now: now))
            .map { try $0.decode((Int64, String, Int64?, String?, Timestamp, Int64).self) }
        let alerts = try await subjects.alerts(of: live.values, now: now)
        let byId = Dictionary(uniqueKeysWithValues: wanted.map { ($0.deliveryId, $0) })
        var contents: [Int64: QueuedContent] = [:]
        for (deliveryId, encrypted, version, channelId, createdAt, alertedThrough) in rows {
            guard let delivery = byId[deliveryId], let subject = live[ActivityKey(delivery).subject] else { continue }
            let token: PushToken
            do throws(TokenCipherError) {
                token = try cipher.decrypt(encrypted, as: .pushToStart, hash: delivery.tokenHash)
            } catch {
                contents[deliveryId] = .unreadable(error)
                continue
            }
            var note = Note(timestamp: subject.timestamp, stateHash: subject.stateHash, channelId: channelId)
            note.due = DueAlerts(alerts[subject.id] ?? [], after: alertedThrough, since: createdAt, now: now)
            let key = ActivityKey(delivery)
            note.due.check { try LivePayloads.start(subject, instance: key.instance, channel: channelId, alert: $0, now: now) }
            let push = push(of: subject, delivery, to: token, version: version, note, readAt: now)
            contents[deliveryId] = .push(push, to: token, note: note)
        }
        return contents
    }

    private func push(
        of subject: LiveSubject,
        _ delivery: QueuedDelivery,
        to token: PushToken,
        version: Int64?,
        _ note: Note,
        readAt: Timestamp
    ) -> Push {
        let key = ActivityKey(delivery)
        return Push(
            identity(of: delivery),
            messageId: key.operationKey("start") + ":\(delivery.attemptNumber)",
            protection: .claim,
            token: Push.Token(.pushToStart, registrationVersion: version, readAt: readAt, countsAcceptance: true)
        ) { [now] _ throws(PushError) in
            let alert = note.due.alert
            return .message(
                try LivePayloads.start(subject, instance: key.instance, channel: note.channelId, alert: alert, now: now()),
                to: token
            )
        }
    }

    package func apply(_ outcomes: [QueuedOutcome], on connection: BlockingConnection) throws {
        let now = now()
        try StartOutcomes(outcomes, now: now).write(policies.starts, policies.channels, on: connection)
        try UndeliveredAlert.record(outcomes.flatMap { $0.undelivered(LiveStart.alerts($0)) }, now: now, on: connection)
    }

    package func report(_ outcome: QueuedOutcome) {
        if let attempt = outcome.attempt {
            LiveMetrics.startsSent.increment()
            LiveMetrics.pushed(.start, attempt.status)
        }
        LiveMetrics.alerted(LiveStart.alerts(outcome))
        if let decision = StartDecision.after(outcome.attempt, outcome.next) { LiveMetrics.started(decision.record) }
    }

    /// What a start did not bring is due to the next one.
    private static func alerts(_ outcome: QueuedOutcome) -> [AlertResult] {
        guard outcome.attempt?.status == .sent, let note = outcome.note as? Note else { return [] }
        return note.due.results(isAccepted: true)
    }
}
