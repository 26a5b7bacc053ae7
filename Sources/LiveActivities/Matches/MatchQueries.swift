import Cricket
import Postgres
import PushContract

/// The SQL of matches. Who sends to followers (`owner`, `leaseUntil`, `epoch`) is not touched here.
enum MatchQueries {
    /// The row, locked until the transaction ends: states of one match are taken in one after another.
    static func lock(_ matchId: String) -> Query {
        "SELECT \(raw: StoredMatch.columns) FROM activeMatches WHERE matchId = \(matchId) FOR UPDATE"
    }

    /// The first state of a match. Nothing when another instance was quicker.
    static func insert(_ change: MatchChange, source: MatchSource, now: Timestamp) throws -> Query {
        let detection = StoredMatch.Detection(tails: change.memory.window.tails, key: change.memory.key)
        return """
            INSERT INTO activeMatches (matchId, phase, displayState, seq, stateHash, stateTimestamp, stateBuiltAt, keyEvent,
                keyEventPriority, previousScores, cooldowns, lastBalls, detection, feedState, pollerState, feedUrl, feedPriority, startPriority,
                startsAt, wentLiveAt, endedAt, lastUpdatedAt, confirmedAt, expiresAt)
            VALUES (\(change.score.matchId), \(change.score.phase.rawValue), \(change.text), \(change.memory.seq),
                \(change.memory.stateHash), \(change.memory.stateTimestamp), \(now), \(change.newKeyEvent?.type.rawValue),
                \(change.newKeyEvent.map { Int16($0.type.priority) }),
                \(try StoredMatch.json(PreviousScores.of(change.score)))::jsonb, \(try StoredMatch.json(change.memory.cooldowns))::jsonb,
                \(try StoredMatch.json(change.memory.window.balls))::jsonb, \(try StoredMatch.json(detection))::jsonb,
                \(try StoredMatch.json(change.score))::jsonb, \(PollerState.of(change.score).rawValue), \(source.url), \(source.priority),
                \(change.score.startPriority), \(change.score.startsAt), \(change.score.isBeingPlayed ? now : nil),
                \(change.score.phase.isFinal ? now : nil), \(now), \(now), \(change.score.phase.isFinal ? now + MatchStore.retention : nil))
            ON CONFLICT (matchId) DO NOTHING
            """
    }

    static func update(_ change: MatchChange, source: MatchSource, now: Timestamp) throws -> Query {
        let detection = StoredMatch.Detection(tails: change.memory.window.tails, key: change.memory.key)
        return """
            UPDATE activeMatches SET phase = \(change.score.phase.rawValue), displayState = \(change.text), seq = \(change.memory.seq),
                stateHash = \(change.memory.stateHash), stateTimestamp = \(change.memory.stateTimestamp), stateBuiltAt = \(now),
                keyEvent = \(change.newKeyEvent?.type.rawValue), keyEventPriority = \(change.newKeyEvent.map { Int16($0.type.priority) }),
                previousScores = \(try StoredMatch.json(PreviousScores.of(change.score)))::jsonb,
                cooldowns = \(try StoredMatch.json(change.memory.cooldowns))::jsonb,
                lastBalls = \(try StoredMatch.json(change.memory.window.balls))::jsonb,
                detection = \(try StoredMatch.json(detection))::jsonb, feedState = \(try StoredMatch.json(change.score))::jsonb,
                pollerState = \(PollerState.of(change.score).rawValue), feedUrl = \(source.url), feedPriority = \(source.priority),
                startPriority = \(change.score.startPriority), startsAt = \(startsAt(change.score)),
                wentLiveAt = coalesce(wentLiveAt, \(change.score.isBeingPlayed ? now : nil)),
                endedAt = coalesce(endedAt, \(change.score.phase.isFinal ? now : nil)),
                expiresAt = coalesce(expiresAt, \(change.score.phase.isFinal ? now + MatchStore.retention : nil)), lastUpdatedAt = \(now),
                confirmedAt = \(now)
            WHERE matchId = \(change.score.matchId)
            """
    }

    /// The alert of a change for which phones make a sound; nil for others.
    static func alert(_ change: MatchChange, now: Timestamp) -> Query? {
        guard let newKeyEvent = change.newKeyEvent, newKeyEvent.type.urgency == .alert else { return nil }
        let alert = LiveSubject.Alert(title: change.display.title, body: change.display.key?.text ?? newKeyEvent.text)
        let state: Query = "SELECT \(change.score.matchId), \(change.memory.stateTimestamp)::bigint"
        return AlertQueries.insert(alert, priority: newKeyEvent.type.priority, of: state, now: now)
    }

    /// Newer, and nothing to show: only what detection remembers, the priority and the start of the match. The display state, its number
    /// and `lastUpdatedAt` stay as they are.
    static func remember(_ memory: MatchMemory, source: MatchSource, now: Timestamp) throws -> Query {
        let detection = StoredMatch.Detection(tails: memory.window.tails, key: memory.key)
        let score = memory.score
        let start: Query = score.map { startsAt($0) } ?? "startsAt"
        return """
            UPDATE activeMatches SET cooldowns = \(try StoredMatch.json(memory.cooldowns))::jsonb,
                previousScores = \(try StoredMatch.json(score.map(PreviousScores.of) ?? [:]))::jsonb,
                lastBalls = \(try StoredMatch.json(memory.window.balls))::jsonb, detection = \(try StoredMatch.json(detection))::jsonb,
                feedState = \(try score.map { try StoredMatch.json($0) })::jsonb, confirmedAt = \(now),
                feedUrl = \(source.url), feedPriority = \(source.priority),
                startPriority = \(score?.startPriority ?? StartOrder.usualPriority), startsAt = \(start)
            WHERE matchId = \(score?.matchId)
            """
    }

    /// Before play the state has the start, or there is none; a state of play need not repeat it.
    private static func startsAt(_ score: MatchScore) -> Query {
        score.phase == .scheduled ? "\(score.startsAt)::timestamptz" : "coalesce(\(score.startsAt), startsAt)"
    }

    /// The feed said the same again.
    static func confirm(_ matches: Query, now: Timestamp) -> Query {
        "UPDATE activeMatches SET confirmedAt = greatest(confirmedAt, \(now)) WHERE \(matches)"
    }

    static func display(_ matchId: String, now: Timestamp) -> Query {
        """
        SELECT a.displayState, a.seq, a.stateTimestamp, m.confirmedAt, m.isLive, m.freshFor, m.silentAfter
        FROM activeMatches a JOIN subjectSources m ON m.subject = a.matchId
        WHERE a.matchId = \(matchId) AND (a.expiresAt IS NULL OR a.expiresAt > \(now))
        """
    }

    /// A feed that says nothing new for that long is asked less often.
    static func pauseSilent(since: Timestamp) -> Query {
        "UPDATE activeMatches SET pollerState = 'paused' WHERE pollerState = 'polling' AND lastUpdatedAt < \(since)"
    }
}
