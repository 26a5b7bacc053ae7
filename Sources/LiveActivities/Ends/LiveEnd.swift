package import Delivery
package import Postgres
import Providers
package import PushContract

/// The push that takes an ended activity off the screen.
package struct LiveEnd: QueuedKind {
    static let kind = "liveEnd"
    /// After that the system has taken the activity away by itself.
    package static let giveUpAfter = Duration.seconds(4 * 3600)
    /// Who listens to a channel gets the end with its broadcast, and the alert with it. The push to the token would take the alert away if
    /// it arrived first.
    static let broadcastTime = Duration.seconds(60)

    private let pool: PostgresPool
    private let subjects: SubjectStore
    private let cipher: TokenCipher
    private let now: @Sendable () -> Timestamp

    package init(pool: PostgresPool, cipher: TokenCipher, now: @escaping @Sendable () -> Timestamp = { .now() }) {
        self.pool = pool
        subjects = SubjectStore(pool: pool)
        self.cipher = cipher
        self.now = now
    }

    package var name: String { LiveEnd.kind }
    /// It has to get there; a second one changes nothing.
    package var policy: DeliveryPolicy { .atLeastOnce }

    package func identity(of delivery: QueuedDelivery) -> AttemptIdentity { ActivityKey(delivery).attempt("end", of: delivery) }

    /// The newest state, and later than anything the device was sent.
    package func contents(of deliveries: [QueuedDelivery]) async throws -> [Int64: QueuedContent] {
        var keys = KeyColumns()
        for delivery in deliveries { keys.append(ActivityKey(delivery)) }
        let rows = try await pool.query(
            """
            SELECT o.deliveryId, a.endReason, a.updateToken, a.updateTokenHash, a.lastTimestampSent, a.createdAt,
                \(AlertQueries.alertedThrough), a.channelId IS NOT NULL, a.endedAt
            FROM unnest(\(deliveries.map(\.deliveryId)), \(keys.columns)) AS o(deliveryId, subject, userId, deviceId, instance)
            JOIN liveActivities a ON \(KeyColumns.match)
            WHERE a.status = 'ended' AND a.updateToken IS NOT NULL
            """
        ).map { try $0.decode((Int64, String, String, String, Int64, Timestamp, Int64, Bool, Timestamp).self) }
        let known = try await subjects.named(deliveries.map { ActivityKey($0).subject })
        let now = now()
        let alerts = try await subjects.alerts(of: known.values, now: now)
        let byId = Dictionary(uniqueKeysWithValues: deliveries.map { ($0.deliveryId, $0) })
        var contents: [Int64: QueuedContent] = [:]
        for (deliveryId, reason, encrypted, hash, lastTimestamp, createdAt, alertedThrough, isListening, endedAt) in rows {
            guard let delivery = byId[deliveryId], delivery.tokenHash.rawValue == hash else { continue }
            let key = ActivityKey(delivery)
            guard let subject = known[key.subject] else { continue }
            let endReason: EndReason = try stored(reason)
            if endReason.concernsAll, isListening, now < endedAt + LiveEnd.broadcastTime {
                contents[deliveryId] = .notBefore(endedAt + LiveEnd.broadcastTime)
                continue
            }
            let token: PushToken
            do throws(TokenCipherError) {
                token = try cipher.decrypt(encrypted, as: .update, hash: delivery.tokenHash)
            } catch {
                contents[deliveryId] = .unreadable(error)
                continue
            }
            // An update of the newest state may be under way.
            let stamp = max(subject.timestamp, lastTimestamp) + 1
            // One whose push is under way has no known outcome, and may be repeated here. Through a channel it comes with the broadcast.
            var due =
                endReason.concernsAll && !isListening
                ? DueAlerts(alerts[subject.id] ?? [], after: alertedThrough, since: createdAt, now: now) : DueAlerts()
            due.check { try LivePayloads.end(subject, timestamp: stamp, reason: endReason, alert: $0, now: now) }
            let push = Push(
                identity(of: delivery),
                messageId: key.operationKey("end"),
                protection: .claim,
                token: Push.Token(.update, countsAcceptance: false)
            ) { [now = self.now, alert = due.alert] _ throws(PushError) in
                .message(try LivePayloads.end(subject, timestamp: stamp, reason: endReason, alert: alert, now: now()), to: token)
            }
            contents[deliveryId] = .push(push, to: token, note: due)
        }
        return contents
    }

    /// The activity has ended, whatever becomes of the push. Its alerts end with the push.
    package func apply(_ outcomes: [QueuedOutcome], on connection: BlockingConnection) throws {
        try UndeliveredAlert.record(outcomes.flatMap { $0.undelivered(LiveEnd.alerts($0)) }, now: now(), on: connection)
    }

    package func report(_ outcome: QueuedOutcome) {
        if let attempt = outcome.attempt { LiveMetrics.pushed(.end, attempt.status) }
        LiveMetrics.alerted(LiveEnd.alerts(outcome))
    }

    private static func alerts(_ outcome: QueuedOutcome) -> [AlertResult] {
        guard let due = outcome.note as? DueAlerts else { return [] }
        switch outcome.next {
        case .sent: return due.results(isAccepted: true)
        case .dead: return due.results(isAccepted: false)
        case .retry, .blocked, .cancelled, .superseded: return []
        }
    }
}
