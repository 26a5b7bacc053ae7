import Postgres
import PushContract

/// The SQL of alerts: written with the state that brings them, in its transaction.
enum AlertQueries {
    /// - Parameter state: a query of the state's subject and timestamp.
    static func insert(_ alert: LiveSubject.Alert, priority: Int, of state: Query, now: Timestamp) -> Query {
        """
        INSERT INTO activityAlerts (matchId, stateTimestamp, builtAt, priority, title, body, sound, interruptionLevel)
        SELECT s.subject, s.timestamp, \(now), \(Int16(priority)), \(alert.title), \(alert.body),
            \(alert.sound)::text, \(alert.interruptionLevel?.rawValue)::text FROM (\(state)) AS s(subject, timestamp)
        """
    }

    /// The newest state that the device of the activity `a` was sent, by whichever instance.
    static let alertedThrough: Query = """
        (SELECT max(i.lastTimestampSent) FROM liveActivities i
            WHERE i.matchId = a.matchId AND i.userId = a.userId AND i.deviceId = a.deviceId)
        """

    static let columns = "stateTimestamp, builtAt, priority, title, body, sound, interruptionLevel"

    /// Of a subject up to its state, the newest last.
    static func recent(of subject: LiveSubject, now: Timestamp) -> Query {
        """
        SELECT \(raw: columns) FROM activityAlerts WHERE matchId = \(subject.id) AND stateTimestamp <= \(subject.timestamp)
            AND builtAt > \(now - SubjectAlert.retention)
        ORDER BY stateTimestamp
        """
    }

    static func read(_ row: Row) throws -> SubjectAlert {
        let values = try row.decode((Int64, Timestamp, Int16, String, String, String?, String?).self)
        let alert = LiveSubject.Alert(title: values.3, body: values.4, sound: values.5, level: values.6)
        return SubjectAlert(timestamp: values.0, builtAt: values.1, priority: Int(values.2), alert: alert)
    }
}
