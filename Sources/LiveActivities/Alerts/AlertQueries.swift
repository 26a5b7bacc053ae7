import Postgres
import PushContract

/// The SQL of alerts: written with the state that brings them, in its transaction.
enum AlertQueries {
    /// - Parameter state: a query of the state's subject and timestamp.
    static func insert(_ alert: LiveSubject.Alert, priority: Int, of state: Query, now: Timestamp) -> Query {
        """
        INSERT INTO activityAlerts (matchId, stateTimestamp, builtAt, priority, title, body)
        SELECT s.subject, s.timestamp, \(now), \(Int16(priority)), \(alert.title), \(alert.body) FROM (\(state)) AS s(subject, timestamp)
        """
    }

    /// The newest state that the device of the activity `a` was sent, by whichever instance.
    static let alertedThrough: Query = """
        (SELECT max(i.lastTimestampSent) FROM liveActivities i
            WHERE i.matchId = a.matchId AND i.userId = a.userId AND i.deviceId = a.deviceId)
        """

    static let columns = "stateTimestamp, builtAt, priority, title, body"

    static func read(_ row: Row) throws -> SubjectAlert {
        let (timestamp, builtAt, priority, title, body) = try row.decode((Int64, Timestamp, Int16, String, String).self)
        return SubjectAlert(
            timestamp: timestamp,
            builtAt: builtAt,
            priority: Int(priority),
            alert: LiveSubject.Alert(title: title, body: body)
        )
    }
}
