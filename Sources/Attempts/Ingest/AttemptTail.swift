package import Postgres
package import PushContract

/// Follows new attempts as they are stored: `pushwatch attempts tail`.
///
/// Reads by `attemptedAt`, which is indexed, and what was reported late by `receivedAt`, which is indexed for those; and keeps what
/// was shown. An attempt is shown again when its status moves on within `overlap` of the attempt or of its first report.
package struct AttemptTail {
    /// What is followed.
    package struct Filter: Sendable {
        package var uid: String?
        package var reason: ReasonCode?

        package init(uid: String? = nil, reason: ReasonCode? = nil) {
            self.uid = uid
            self.reason = reason
        }
    }

    /// At most so many a round that came in time, and as many that came late: the newest.
    package static let roundLimit = 1000
    private static let overlap: Duration = .seconds(60)

    private struct Shown: Hashable {
        var attemptId: String
        var status: AttemptStatus
    }

    private let filter: Filter
    private var since: Timestamp
    /// What came from here on is shown, however late.
    private var receivedSince: Timestamp?
    private var shown: [Shown: Timestamp] = [:]
    /// Whether the last round left attempts out, as far as can be seen.
    package private(set) var leftSomeOut = false

    /// - Parameter since: nothing older is shown to begin with.
    package init(filter: Filter, since: Timestamp) {
        self.filter = filter
        self.since = since
    }

    /// The newest attempts before anything is followed, oldest first.
    package mutating func last(_ count: Int, now: Timestamp, on session: any PostgresSession) async throws -> [Attempt] {
        let newest = try await read(limit: count, on: session)
        // What was left out here is not to come with the next round.
        if newest.count == count { since = newest.first?.attemptedAt ?? now }
        receivedSince = now
        return fresh(newest, now: now)
    }

    /// What has come since the last round, oldest first.
    package mutating func next(now: Timestamp, on session: any PostgresSession) async throws -> [Attempt] {
        let onTime = try await read(limit: AttemptTail.roundLimit, on: session)
        let late = try await readLate(limit: AttemptTail.roundLimit, on: session)
        leftSomeOut = isCut(onTime) || isCut(late)
        receivedSince = max(receivedSince ?? now, now - AttemptTail.overlap)
        return fresh((late + onTime).sorted { $0.attemptedAt < $1.attemptedAt }, now: now)
    }

    /// The limit was reached, and by new ones: had the oldest been shown before, what is older had been too.
    private func isCut(_ attempts: [Attempt]) -> Bool {
        guard attempts.count == AttemptTail.roundLimit, let oldest = attempts.first else { return false }
        return shown[Shown(attemptId: oldest.attemptId, status: oldest.status)] == nil
    }

    private func read(limit: Int, on session: any PostgresSession) async throws -> [Attempt] {
        let rows = try await session.query(
            """
            SELECT \(raw: StoredAttempt.columns) FROM notificationDeliveryAttempts
            WHERE attemptedAt >= \(since)\(condition)
            ORDER BY attemptedAt DESC, attemptKey DESC LIMIT \(limit)
            """
        )
        return try rows.reversed().map(StoredAttempt.decode)
    }

    /// The condition is that of the index notificationDeliveryAttempts_late.
    private func readLate(limit: Int, on session: any PostgresSession) async throws -> [Attempt] {
        guard let receivedSince else { return [] }
        let rows = try await session.query(
            """
            SELECT \(raw: StoredAttempt.columns) FROM notificationDeliveryAttempts
            WHERE receivedAt >= \(receivedSince) AND receivedAt - attemptedAt > interval '1 minute'\(condition)
            ORDER BY receivedAt DESC, attemptKey DESC LIMIT \(limit)
            """
        )
        return try rows.reversed().map(StoredAttempt.decode)
    }

    private var condition: Query {
        var query: Query = ""
        if let uid = filter.uid { query = "\(query) AND uid = \(uid)" }
        if let reason = filter.reason { query = "\(query) AND reasonCode = \(reason.rawValue)::pushReason" }
        return query
    }

    /// Those that were not shown yet. Forgets what the next round cannot bring again.
    private mutating func fresh(_ attempts: [Attempt], now: Timestamp) -> [Attempt] {
        let new = attempts.filter {
            shown.updateValue(max($0.attemptedAt, now), forKey: Shown(attemptId: $0.attemptId, status: $0.status)) == nil
        }
        since = max(since, now - AttemptTail.overlap)
        shown = shown.filter { $0.value >= now - AttemptTail.overlap - AttemptTail.overlap }
        return new
    }
}
