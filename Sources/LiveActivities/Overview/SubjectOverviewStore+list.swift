import Postgres
import PushContract

extension SubjectOverviewStore {
    /// A subject that is live, or ended in the last two days, in one line.
    struct Line: Sendable {
        var subject: String
        var phase: String
        var isLive: Bool
        var startedAt: Timestamp
        var builtAt: Timestamp
        var confirmedAt: Timestamp?
        var endedAt: Timestamp?
        var followers: Int
        var active: Int
        var pending: Int
        var ended: Int
    }

    /// Of the subject `m`: its devices by the status of their newest activity.
    static let counts: Query = """
        SELECT count(*) FILTER (WHERE status = 'active') AS active, count(*) FILTER (WHERE status = 'pending') AS pending,
            count(*) FILTER (WHERE status = 'ended') AS ended
        FROM (SELECT DISTINCT ON (userId, deviceId) status FROM liveActivities a WHERE a.matchId = m.subject
            ORDER BY userId, deviceId, (status = 'active') DESC, instance DESC) newest
        """

    /// Subjects of all types that have begun, the newest first. When a subject began does not change, so that every subject is on one page.
    ///
    /// - Parameter last: of the page before.
    func list(after last: (startedAt: Timestamp, subject: String)?, limit: Int, now: Timestamp) async throws -> [Line] {
        let (startedAt, subject) = (last?.startedAt, last?.subject)
        return try await pool.query(
            """
            WITH page AS (
                SELECT subject, phase, isLive, startedAt, stateBuiltAt, CASE WHEN freshFor IS NOT NULL THEN confirmedAt END, endedAt
                FROM liveSubjects
                WHERE phase <> 'scheduled'
                    AND (\(startedAt)::timestamptz IS NULL OR (startedAt, subject) < (\(startedAt)::timestamptz, \(subject)::text))
                ORDER BY startedAt DESC, subject DESC LIMIT \(limit)
            )
            SELECT m.*, (SELECT count(*) FROM follows f WHERE f.matchId = m.subject AND coalesce(f.expiresAt, 'infinity') > \(now)),
                c.active, c.pending, c.ended
            FROM page m, LATERAL (\(SubjectOverviewStore.counts)) c ORDER BY m.startedAt DESC, m.subject DESC
            """
        ).map { row in
            let values = try row.decode(
                (String, String, Bool, Timestamp, Timestamp, Timestamp?, Timestamp?, Int, Int, Int, Int).self
            )
            return Line(
                subject: values.0,
                phase: values.1,
                isLive: values.2,
                startedAt: values.3,
                builtAt: values.4,
                confirmedAt: values.5,
                endedAt: values.6,
                followers: values.7,
                active: values.8,
                pending: values.9,
                ended: values.10
            )
        }
    }
}
