import Crypto
import Delivery
import HTTPServer
package import Postgres
import PushContract

/// Activities of registered types in PostgreSQL. The orchestrator and the fan-out treat them as they treat matches.
package struct CustomActivityStore: Sendable {
    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    enum StartResult: Sendable, Hashable {
        case started(devices: Int)
        /// The same start came before.
        case repeated(devices: Int)
        /// Something else has this activityId.
        case conflict
        case unknownTarget
        /// Registered, and no Live Activity can be started there by a push: no start token, or iOS below 17.2.
        case unreachable
    }

    /// Stores the activity with one pending row for each device; all or nothing.
    func start(_ start: CustomStart, type: AttributesType, now: Timestamp) async throws -> StartResult {
        let subject = SubjectName.of(attributesType: type.name, activityId: start.activityId)
        return try await pool.performTransaction { connection in
            let known = try connection.query(CustomQueries.devices(start, now: now))
            guard !known.isEmpty else { return .unknownTarget }
            let made = try connection.execute(CustomQueries.insert(start, subject: subject, type: type.name, now: now))
            if made == 0 {
                let same = try connection.query(CustomQueries.isSame(start, subject: subject))
                guard !same.isEmpty else { return .conflict }
                let rows = try connection.query("SELECT count(*) FROM liveActivities WHERE matchId = \(subject)")
                return .repeated(devices: try rows[0].decode(Int.self))
            }
            let devices = try connection.execute(CustomQueries.pending(start, subject: subject, type: type.name, now: now))
            guard devices > 0 else {
                try connection.execute("DELETE FROM activitySubjects WHERE subject = \(subject)")
                return .unreachable
            }
            return .started(devices: devices)
        }
    }

    struct UpdateResult: Sendable, Hashable {
        /// Nil: the update brings no alert.
        var alertsWaiting: Int?
    }

    /// Nil: there is none of this name that still runs.
    func update(_ update: CustomUpdate, type: AttributesType, now: Timestamp) async throws -> UpdateResult? {
        let subject = SubjectName.of(attributesType: type.name, activityId: update.activityId)
        return try await pool.performTransaction { connection in
            guard try connection.execute(CustomQueries.update(update, subject: subject, now: now)) == 1 else { return nil }
            guard let alert = update.alert else { return UpdateResult() }
            let waiting = try connection.query(CustomQueries.alertsWaiting(of: subject, now: now))[0].decode(Int.self)
            try connection.execute(CustomQueries.insert(alert, priority: update.isCritical ? 1 : 2, of: subject, now: now))
            return UpdateResult(alertsWaiting: waiting)
        }
    }

    /// False: there is none of this name. Ending twice is fine.
    func end(_ end: CustomEnd, type: AttributesType, now: Timestamp) async throws -> Bool {
        let subject = SubjectName.of(attributesType: type.name, activityId: end.activityId)
        return try await pool.performTransaction { connection in
            guard try connection.execute(CustomQueries.end(end, subject: subject, now: now)) == 1 else {
                return try !connection.query("SELECT 1 FROM activitySubjects WHERE subject = \(subject)").isEmpty
            }
            if let alert = end.alert { try connection.execute(CustomQueries.insert(alert, priority: 1, of: subject, now: now)) }
            return true
        }
    }
}

private enum CustomQueries {
    static func hash(_ text: String) -> String {
        SHA256.hash(data: Array(text.utf8)).prefix(16).reduce(into: "") { hash, byte in
            hash += String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
    }

    private static func target(_ start: CustomStart) -> Query {
        "(\(start.uid)::text IS NULL OR d.userId = \(start.uid)) AND (\(start.deviceId)::text IS NULL OR d.deviceId = \(start.deviceId))"
    }

    static func devices(_ start: CustomStart, now: Timestamp) -> Query {
        "SELECT 1 FROM devices d WHERE \(target(start)) AND d.expiresAt > \(now) LIMIT 1"
    }

    static func insert(_ start: CustomStart, subject: String, type: String, now: Timestamp) -> Query {
        """
        INSERT INTO activitySubjects (subject, attributesType, attributes, contentState, stateHash, stateTimestamp, stateBuiltAt,
            startAlertTitle, startAlertBody, startAlertSound, startAlertLevel, staleAt, relevanceScore, createdAt, lastUpdatedAt)
        VALUES (\(subject), \(type), \(start.attributes), \(start.contentState), \(hash(start.contentState)), \(now.seconds), \(now),
            \(start.alert.title), \(start.alert.body), \(start.alert.sound), \(start.alert.interruptionLevel?.rawValue), \(start.staleAt),
            \(start.relevanceScore), \(now), \(now))
        ON CONFLICT (subject) DO NOTHING
        """
    }

    static func update(_ update: CustomUpdate, subject: String, now: Timestamp) -> Query {
        """
        UPDATE activitySubjects SET contentState = \(update.contentState), stateHash = \(hash(update.contentState)), seq = seq + 1,
            stateTimestamp = greatest(\(now.seconds), stateTimestamp + 1), stateBuiltAt = \(now), lastUpdatedAt = \(now),
            critical = \(update.isCritical), staleAt = \(update.staleAt), relevanceScore = coalesce(\(update.relevanceScore), relevanceScore)
        WHERE subject = \(subject) AND endedAt IS NULL
        """
    }

    static func end(_ end: CustomEnd, subject: String, now: Timestamp) -> Query {
        """
        UPDATE activitySubjects SET contentState = coalesce(\(end.contentState), contentState),
            stateHash = coalesce(\(end.contentState.map(hash)), stateHash), seq = seq + 1,
            stateTimestamp = greatest(\(now.seconds), stateTimestamp + 1), stateBuiltAt = \(now), lastUpdatedAt = \(now),
            critical = false, endedAt = \(now), dismissAt = \(end.dismissAt)
        WHERE subject = \(subject) AND endedAt IS NULL
        """
    }

    /// The alert of the state that was just stored.
    static func insert(_ alert: LiveSubject.Alert, priority: Int, of subject: String, now: Timestamp) -> Query {
        let state: Query = "SELECT subject, stateTimestamp FROM activitySubjects WHERE subject = \(subject)"
        return AlertQueries.insert(alert, priority: priority, of: state, now: now)
    }

    /// Alerts that a device of the subject was not sent yet.
    static func alertsWaiting(of subject: String, now: Timestamp) -> Query {
        """
        SELECT count(*) FROM activityAlerts w WHERE w.matchId = \(subject) AND w.builtAt >= \(now - SubjectAlert.freshness)
            AND EXISTS (SELECT FROM liveActivities a WHERE a.matchId = w.matchId AND a.status <> 'ended'
                AND a.lastTimestampSent < w.stateTimestamp)
        """
    }

    /// What it was started with, as far as it does not change.
    static func isSame(_ start: CustomStart, subject: String) -> Query {
        """
        SELECT 1 FROM activitySubjects WHERE subject = \(subject) AND attributes = \(start.attributes)
            AND startAlertTitle = \(start.alert.title) AND startAlertBody = \(start.alert.body)
        """
    }

    static func pending(_ start: CustomStart, subject: String, type: String, now: Timestamp) -> Query {
        """
        INSERT INTO liveActivities (matchId, userId, deviceId, instance, status, attributesType, app, environment, createdAt, nextStartAt)
        SELECT \(subject), d.userId, d.deviceId, 1, 'pending', \(type), d.app, d.environment, \(now), \(now)
        FROM devices d \(StartTargets.token(for: "\(type)")) WHERE \(target(start)) AND d.platform = 'ios' AND \(StartTargets.usable(at: now))
        ON CONFLICT DO NOTHING
        """
    }
}
