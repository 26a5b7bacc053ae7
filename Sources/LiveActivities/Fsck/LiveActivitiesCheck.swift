package import Attempts
import Postgres

/// Live Activities: every push and every start comes to an outcome, and no phone was sent what its match never showed.
package struct LiveActivitiesCheck: FsckCheck {
    package let name = "live"

    package init() {}

    package func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        let questions: [(name: String, promise: String, examined: String, query: Query)] = [
            ("livePushes", "no Live Activity push is left without an outcome", "pushes under way", LiveActivitiesCheck.openPushes),
            ("liveStarts", "no start leaves the send queue without an outcome", "starts of the last week", LiveActivitiesCheck.openStarts),
            ("liveStates", "no activity was sent a state newer than its match's", "activities", LiveActivitiesCheck.states),
        ]
        var lines: [FsckReport.Line] = []
        for (done, question) in questions.enumerated() {
            context.progress(done, of: questions.count)
            let faults = try await context.confirmed {
                try await context.look(question.query).map { FsckFault(try $0.decode(String.self)) }
            }
            lines.append(FsckReport.Line(question.name, question.promise, examined: question.examined, faults: faults))
        }
        return lines
    }

    /// Settled after two minutes, by a loop of 30 seconds.
    private static let openPushes: Query = """
        SELECT cardinality(uids) || ' pushes of ' || owner || ' have had no outcome since ' || startedAt FROM pushIntents
        WHERE startedAt < clock_timestamp() - interval '10 minutes' ORDER BY startedAt LIMIT 100
        """

    private static let openStarts: Query = """
        SELECT 'start ' || deliveryId || ' of ' || matchId || ' has left the queue without an outcome' FROM activityStarts s
        WHERE outcome IS NULL AND (EXISTS (SELECT FROM pushFinishedSingles f WHERE f.deliveryId = s.deliveryId)
            OR EXISTS (SELECT FROM pushDead x WHERE x.deliveryId = s.deliveryId)
            OR NOT EXISTS (SELECT FROM pushDeliveries d WHERE d.deliveryId = s.deliveryId))
        ORDER BY claimedAt LIMIT 100
        """

    /// Its end may be sent with a later timestamp; that is not noted as a state.
    private static let states: Query = """
        SELECT a.matchId || ' of ' || a.userId || ' on ' || a.deviceId || ' was sent ' || a.lastTimestampSent || ', and the newest is '
            || s.newest
        FROM liveActivities a JOIN (
            SELECT matchId, stateTimestamp AS newest FROM activeMatches
            UNION ALL SELECT subject, stateTimestamp FROM activitySubjects
        ) s USING (matchId)
        WHERE a.lastTimestampSent > s.newest ORDER BY 1 LIMIT 100
        """
}
