import Cricket
import Foundation
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import LiveActivities

/// The pipeline of a match: one transaction a state, one display state a change.
@Suite("Matches")
struct MatchStoreTests {
    @Test("L-03, L-07, L-23, L-28: a match through the store: one state a change, the columns of the seed, the end")
    func wholeMatch() async throws {
        try await withDatabase { pool in
            let wakes = Mutex(0)
            let store = MatchStore(pool: pool) { wakes.withLock { $0 += 1 } }
            let feed = try MatchSamples.feed()
            var accepted: [MatchReceipt] = []
            for message in feed.messages {
                let now = feed.plan.moment(ofMatchTime: message.milliseconds)
                let receipt = try await store.accept(feed.score(of: message), now: now)
                if receipt.result == .accepted { accepted.append(receipt) }
                #expect(Int(try await pool.matchColumn("jsonb_array_length(lastBalls)") ?? "") ?? 99 <= 30)
                let phase = try await pool.matchColumn("phase")
                let isOver = phase == "ended"
                #expect(try await pool.matchColumn("pollerState") == (isOver ? "ended" : "polling"))
                #expect((try await pool.matchColumn("wentLiveAt") != nil) == (phase != "scheduled"), "L-03")
                #expect((try await pool.matchColumn("expiresAt") != nil) == isOver, "L-28")
            }
            #expect(accepted.map(\.seq) == Array(1...Int64(accepted.count)), "L-07: as many states as changes")
            #expect(wakes.withLock { $0 } == accepted.count)
            let events = accepted.flatMap(\.events)
            #expect(events.count { $0 == .wicket } == 4)
            #expect(events.contains(.hattrick) && events.contains(.matchEnd))
            #expect(try await pool.matchColumn("previousScores->'2'->>'runs'") == "14")
            #expect(try await pool.matchColumn("expiresAt - endedAt = interval '48 hours'") == "true")
            #expect(try await pool.matchColumn("keyEvent || ' ' || keyEventPriority") == "match_end 1")
            #expect(try await newestAlert(pool) == "BC won by 9 wickets")
        }
    }

    private func newestAlert(_ pool: PostgresPool) async throws -> String {
        try await pool.query("SELECT body FROM activityAlerts ORDER BY stateTimestamp DESC LIMIT 1")[0].decode(String.self)
    }

    @Test("L-23: lastUpdatedAt is the moment of the last state that was accepted")
    func lastUpdated() async throws {
        try await withDatabase { pool in
            let store = MatchStore(pool: pool)
            for (score, second) in zip(try MatchSamples.scores().prefix(3), [0, 7, 9]) {
                let now = MatchSamples.now + .seconds(second)
                _ = try await store.accept(score, now: now)
                let updated = try await pool.query("SELECT lastUpdatedAt FROM activeMatches")[0].decode(Timestamp.self)
                #expect(updated == now)
            }
            // Newer, and nothing to show.
            var same = try MatchSamples.scores()[2]
            same.sequence = 99
            #expect(try await store.accept(same, now: MatchSamples.now + .seconds(20)).result == .unchanged)
            let updated = try await pool.query("SELECT lastUpdatedAt FROM activeMatches")[0].decode(Timestamp.self)
            #expect(updated == MatchSamples.now + .seconds(9))
        }
    }

    @Test("L-06: what is stored is the canonical bytes, and a default decoder reads them")
    func bytes() async throws {
        try await withDatabase { pool in
            let store = MatchStore(pool: pool)
            for score in try MatchSamples.scores().prefix(5) { _ = try await store.accept(score, now: score.updatedAt) }
            let display = try #require(try await store.display("m1", now: MatchSamples.now))
            let state = try JSONDecoder().decode(UnifiedDisplayState.self, from: Data(display.text.utf8))
            #expect(state.seq == display.seq)
            #expect(String(decoding: state.canonicalJSON, as: UTF8.self) == display.text)
            #expect(try await pool.matchColumn("stateTimestamp") == "\(state.updatedAt)")
            #expect(try await pool.matchColumn("stateHash") == state.contentHash)
        }
    }

    @Test("duplicates and old states are ignored; the end is the end")
    func stale() async throws {
        try await withDatabase { pool in
            let store = MatchStore(pool: pool)
            let scores = try MatchSamples.scores()
            for score in [scores[0], scores[3]] { _ = try await store.accept(score, now: MatchSamples.now) }
            #expect(try await store.accept(scores[3], now: MatchSamples.now).result == .stale)
            #expect(try await store.accept(scores[2], now: MatchSamples.now).result == .stale)
            var same = scores[3]
            same.sequence = 4
            #expect(try await store.accept(same, now: MatchSamples.now).result == .unchanged)
            #expect(try await store.accept(scores[scores.count - 1], now: MatchSamples.now).result == .accepted)
            var later = scores[4]
            later.sequence = 99
            await #expect(throws: MatchIsOver.self) { try await store.accept(later, now: MatchSamples.now) }
        }
    }

    @Test("without sequences, an end within the second of the last state is taken in; a state that is behind confirms nothing")
    func oneSecond() async throws {
        try await withDatabase { pool in
            let store = MatchStore(pool: pool)
            let scores = try MatchSamples.scores().map { score in
                var score = score
                score.sequence = nil
                score.updatedAt = MatchSamples.now
                return score
            }
            func confirmedAt() async throws -> Timestamp {
                try await pool.query("SELECT confirmedAt FROM activeMatches")[0].decode(Timestamp.self)
            }
            _ = try await store.accept(scores[4], now: MatchSamples.now)
            let late = MatchSamples.now + .seconds(10)
            #expect(try await store.accept(scores[3], now: late).result == .stale)
            #expect(try await confirmedAt() == MatchSamples.now)
            #expect(try await store.accept(scores[4], now: late).result == .stale)
            #expect(try await confirmedAt() == late)
            #expect(try await store.accept(scores[scores.count - 1], now: late).result == .accepted)
            #expect(try await pool.matchColumn("phase") == "ended")
        }
    }

    @Test("a clock that goes back never takes timestamps with it, whoever writes")
    func rising() async throws {
        try await withDatabase { pool in
            var stamps: [Int64] = []
            for (index, score) in try MatchSamples.scores().enumerated() {
                // Each state through another instance, their clocks apart.
                let store = MatchStore(pool: pool)
                _ = try await store.accept(score, now: MatchSamples.now + .seconds(index % 2 == 0 ? 100 : -100))
                stamps.append(Int64(try await pool.matchColumn("stateTimestamp") ?? "") ?? 0)
            }
            #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 <= $1 })
            #expect(Set(stamps).count > 8)
        }
    }

    @Test("many instances with one feed at once make one row and report each state once, and the last one wins", arguments: 0..<3)
    func concurrent(seed: Int) async throws {
        try await withDatabase { pool in
            let feed = try MatchSamples.feed(faults: [.duplicate, .reorder, .late], seed: UInt64(seed))
            let scores = feed.messages.map { feed.score(of: $0) }
            let receipts = try await withThrowingTaskGroup(of: [MatchReceipt].self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let store = MatchStore(pool: pool)
                        var receipts: [MatchReceipt] = []
                        for score in scores { receipts.append(try await store.accept(score, now: score.updatedAt)) }
                        return receipts
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let accepted = receipts.filter { $0.result == .accepted }
            #expect(Set(accepted.map(\.seq)).count == accepted.count)
            #expect(accepted.flatMap(\.events).count { $0 == .matchEnd } == 1)
            #expect(accepted.flatMap(\.events).count { $0 == .hattrick } == 1)
            #expect(try await pool.matchColumn("displayState::jsonb->>'status'") == "BC won by 9 wickets")
            #expect(try await pool.query("SELECT 1 FROM activeMatches").count == 1)
        }
    }

    @Test("the heartbeat's timestamp is taken on from, and what a match's sender holds is left alone")
    func neighbours() async throws {
        try await withDatabase { pool in
            let store = MatchStore(pool: pool)
            let scores = try MatchSamples.scores()
            _ = try await store.accept(scores[1], now: MatchSamples.now)
            try await pool.execute("UPDATE activeMatches SET stateTimestamp = stateTimestamp + 500, owner = 'a', epoch = 7")
            _ = try await store.accept(scores[2], now: MatchSamples.now)
            #expect(try await pool.matchColumn("stateTimestamp") == "\(MatchSamples.now.seconds + 501)")
            #expect(try await pool.matchColumn("owner || epoch") == "a7")
        }
    }

    @Test("the list of matches counts the activities of those alone that it shows")
    func overview() async throws {
        try await withDatabase { pool in
            let fixture = LiveFixture(pool: pool, cipher: BenchParts.cipher)
            for (index, matchId) in ["m1", "m2", "m3"].enumerated() {
                let now = MatchSamples.now + .seconds(index)
                try await fixture.running(index * 200..<index * 200 + 200, of: matchId, now: now)
                try await fixture.score(matchId, phase: "live", runs: 1, now: now)
            }
            try await pool.execute("ANALYZE liveActivities, activeMatches")
            var configuration = pool.configuration
            configuration.maxConnections = 1
            configuration.looksUpByIndex = true
            let reader = PostgresPool(configuration: configuration, logger: .silent)
            defer { reader.close() }
            let matches = try await MatchOverviewStore(pool: reader).matches(limit: 1, now: MatchSamples.now)
            #expect(matches.map(\.matchId) == ["m3"] && matches.map(\.active) == [200] && matches.map(\.followers) == [200])
            _ = try await reader.query("SELECT pg_stat_force_next_flush()::text")
            let read = try await reader.query(
                """
                SELECT (coalesce(idx_tup_fetch, 0) + seq_tup_read)::bigint FROM pg_stat_user_tables WHERE relname = 'liveactivities'
                """
            )
            #expect(try read[0].decode(Int64.self) == 200)
        }
    }

    @Test("L-28: a match that ended long ago is not shown; a silent feed is marked as paused")
    func afterwards() async throws {
        try await withDatabase { pool in
            let store = MatchStore(pool: pool)
            let scores = try MatchSamples.scores()
            _ = try await store.accept(scores[1], now: MatchSamples.now)
            try await store.pauseSilent(since: MatchSamples.now)
            #expect(try await pool.matchColumn("pollerState") == "polling")
            try await store.pauseSilent(since: MatchSamples.now + .seconds(1))
            #expect(try await pool.matchColumn("pollerState") == "paused")
            _ = try await store.accept(scores[scores.count - 1], now: MatchSamples.now)
            #expect(try await pool.matchColumn("pollerState") == "ended")
            #expect(try await store.display("m1", now: MatchSamples.now + .seconds(48 * 3600 - 1)) != nil)
            #expect(try await store.display("m1", now: MatchSamples.now + .seconds(48 * 3600)) == nil)
        }
    }
}
