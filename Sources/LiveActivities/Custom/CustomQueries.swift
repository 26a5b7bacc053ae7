import Crypto
import Delivery
import Postgres
import PushContract

/// The SQL of `CustomActivityStore`.
enum CustomQueries {
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

    /// Those it is addressed to follow it: a user with every device, or with the one that is named.
    static func address(_ start: CustomStart, subject: String, now: Timestamp) -> Query {
        """
        INSERT INTO follows (userId, matchId, onlyDeviceId, followedAt)
        SELECT DISTINCT d.userId, \(subject), \(start.deviceId)::text, \(now)::timestamptz FROM devices d
        WHERE \(target(start)) AND d.expiresAt > \(now)
        ON CONFLICT DO NOTHING
        """
    }

    static func devicesReached(_ subject: String) -> Query {
        "SELECT count(DISTINCT (userId, deviceId)) FROM liveActivities WHERE matchId = \(subject)"
    }

    static func insert(_ state: SubjectState, subject: String, type: AttributesType, now: Timestamp) -> Query {
        """
        INSERT INTO activitySubjects (subject, attributesType, attributes, contentState, stateHash, stateTimestamp, stateBuiltAt,
            startAlertTitle, startAlertBody, startAlertSound, startAlertLevel, staleAt, relevanceScore, sequence, usesChannels, freshFor,
            confirmedAt, createdAt, lastUpdatedAt)
        VALUES (\(subject), \(type.name), \(state.attributes), \(state.contentState), \(hash(state.contentState)), \(now.seconds), \(now),
            \(state.startAlert.title), \(state.startAlert.body), \(state.startAlert.sound), \(state.startAlert.interruptionLevel?.rawValue),
            \(state.staleAt), \(state.relevanceScore), \(state.sequence), \(type.usesChannels),
            \((state.freshFor ?? type.freshFor)?.components.seconds), \(now), \(now), \(now))
        ON CONFLICT (subject) DO NOTHING
        """
    }

    static func lock(_ subject: String) -> Query {
        """
        SELECT attributes, stateHash, sequence, staleAt, relevanceScore, endedAt IS NOT NULL, freshFor, startAlertTitle, startAlertBody,
            startAlertSound, startAlertLevel
        FROM activitySubjects WHERE subject = \(subject) FOR UPDATE
        """
    }

    /// Of those of which anybody may still be alerted.
    static func lastAlert(of subject: String, now: Timestamp) -> Query {
        """
        SELECT \(raw: AlertQueries.columns) FROM activityAlerts WHERE matchId = \(subject) AND builtAt >= \(now - SubjectAlert.freshness)
        ORDER BY stateTimestamp DESC LIMIT 1
        """
    }

    static func update(_ update: CustomUpdate, subject: String, now: Timestamp) -> Query {
        """
        UPDATE activitySubjects SET contentState = \(update.contentState), stateHash = \(hash(update.contentState)), seq = seq + 1,
            stateTimestamp = greatest(\(now.seconds), stateTimestamp + 1), stateBuiltAt = \(now), lastUpdatedAt = \(now),
            confirmedAt = \(now), critical = \(update.isCritical), staleAt = \(update.staleAt),
            relevanceScore = coalesce(\(update.relevanceScore), relevanceScore)
        WHERE subject = \(subject) AND endedAt IS NULL
        """
    }

    /// The same state again.
    static func confirm(_ subjects: Query, now: Timestamp) -> Query {
        """
        UPDATE activitySubjects SET confirmedAt = greatest(confirmedAt, \(now)) WHERE \(subjects) AND endedAt IS NULL
        """
    }

    /// What only a `PUT` says.
    static func note(_ put: SubjectPut, subject: String) -> Query {
        let common: Query = """
            sequence = coalesce(\(put.sequence), sequence), freshFor = coalesce(\(put.freshFor?.components.seconds), freshFor)
            """
        guard let alert = put.startAlert else { return "UPDATE activitySubjects SET \(common) WHERE subject = \(subject)" }
        return """
            UPDATE activitySubjects SET \(common), startAlertTitle = \(alert.title), startAlertBody = \(alert.body),
                startAlertSound = \(alert.sound), startAlertLevel = \(alert.interruptionLevel?.rawValue)
            WHERE subject = \(subject)
            """
    }

    /// Ends subjects with the state that the caller gives, or with their last one.
    static func end(_ subjects: Query, with end: CustomEnd? = nil, now: Timestamp) -> Query {
        """
        UPDATE activitySubjects SET contentState = coalesce(\(end?.contentState), contentState),
            stateHash = coalesce(\(end?.contentState.map(hash)), stateHash), seq = seq + 1,
            stateTimestamp = greatest(\(now.seconds), stateTimestamp + 1), stateBuiltAt = \(now), lastUpdatedAt = \(now),
            critical = false, endedAt = \(now), dismissAt = \(end?.dismissAt)
        WHERE \(subjects) AND endedAt IS NULL
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

    /// Whether it was started with this, as far as it is known still, and for all whom this is addressed to. Who has unfollowed had an
    /// activity, or pushes on a device without Live Activities.
    static func isSame(_ start: CustomStart, subject: String, now: Timestamp) -> Query {
        let state = start.state
        return """
            SELECT 1 FROM activitySubjects WHERE subject = \(subject) AND attributes = \(state.attributes)
                AND startAlertTitle = \(state.startAlert.title) AND startAlertBody = \(state.startAlert.body)
                AND (seq > 1 OR stateHash = \(hash(state.contentState)))
                AND NOT EXISTS (SELECT FROM devices d LEFT JOIN follows f ON f.matchId = \(subject) AND f.userId = d.userId
                    WHERE \(target(start)) AND d.expiresAt > \(now) AND CASE WHEN f.userId IS NOT NULL THEN f.onlyDeviceId <> d.deviceId
                        ELSE NOT EXISTS (SELECT FROM liveActivities a WHERE a.matchId = \(subject) AND a.userId = d.userId)
                            AND NOT EXISTS (SELECT FROM pushDeliveries e
                                WHERE e.uid = d.userId AND \(OtherDevicesQueries.isOf(subject, "e.sendId"))) END)
            """
    }
}
