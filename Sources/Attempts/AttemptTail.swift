package import Postgres
package import PushContract

/// Follows new attempts as they are stored: `pushwatch attempts tail`.
///
/// Reads by `attemptedAt`, which is indexed, and remembers what was shown. An attempt is shown again when its status moved on. Reports
/// that come more than `overlap` after the attempt are not shown; `GET /attempts` and SQL have them.
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

    /// At most so many a round; what does not fit is left out and counted.
    package static let roundLimit = 1000
    private static let overlap: Duration = .seconds(60)

    private struct Shown: Hashable {
        var attemptId: String
        var status: AttemptStatus
    }

    private let filter: Filter
    private var since: Timestamp
    private var shown: [Shown: Timestamp] = [:]

    /// - Parameter since: nothing older is shown.
    package init(filter: Filter, since: Timestamp) {
        self.filter = filter
        self.since = since
    }

    /// The newest attempts before anything is followed, oldest first.
    package mutating func last(_ count: Int, now: Timestamp, on session: any PostgresSession) async throws -> [Attempt] {
        let newest = try await read(limit: count, on: session)
        // What was left out here is not to come with the next round.
        if newest.count == count { since = newest.first?.attemptedAt ?? now }
        return fresh(newest, now: now)
    }

    /// What has come since the last round, oldest first.
    package mutating func next(now: Timestamp, on session: any PostgresSession) async throws -> [Attempt] {
        fresh(try await read(limit: AttemptTail.roundLimit, on: session), now: now)
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

    private var condition: Query {
        var query: Query = ""
        if let uid = filter.uid { query = "\(query) AND uid = \(uid)" }
        if let reason = filter.reason { query = "\(query) AND reasonCode = \(reason.rawValue)::pushReason" }
        return query
    }

    /// Those that were not shown yet. Forgets what the next round cannot bring again.
    private mutating func fresh(_ attempts: [Attempt], now: Timestamp) -> [Attempt] {
        let new = attempts.filter { shown.updateValue($0.attemptedAt, forKey: Shown(attemptId: $0.attemptId, status: $0.status)) == nil }
        since = max(since, now - AttemptTail.overlap)
        shown = shown.filter { $0.value >= since }
        return new
    }
}
