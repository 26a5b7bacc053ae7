import Postgres
import PushContract
import Synchronization
import Testing

@testable import LiveActivities

@Suite("Subjects that are new")
struct NewSubjectTests {
    @Test("a match announced at another instance is leased in the next poll, not with the next renewal of leases")
    func announcedElsewhere() async throws {
        try await LiveBench.with { bench in
            try await bench.run()
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            // Written to the database by somebody else, a moment after this process has looked.
            bench.clock.advance(.milliseconds(250))
            try await bench.score(runs: 1)
            try await bench.run(all: false)
            #expect(bench.apns.calls.map(\.event) == ["start"])
        }
    }

    @Test("a changed state of a leased match that another instance accepted is sent in the next poll")
    func changedElsewhere() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.clock.advance(.milliseconds(250))
            try await bench.score(runs: 2)
            try await bench.run(all: false)
            #expect(bench.apns.calls.map(\.event) == ["update"])
        }
    }

    @Test("what ended is not leased once nothing of it is left to be ended, and not read any more")
    func released() async throws {
        try await LiveBench.with { bench in
            let (count, endedAt) = (600, bench.now - .seconds(3600))
            try await bench.pool.execute(
                """
                INSERT INTO activitySubjects (subject, attributesType, attributes, contentState, stateHash, stateTimestamp, stateBuiltAt,
                    startAlertTitle, startAlertBody, endedAt, createdAt, lastUpdatedAt)
                SELECT 'T/' || n, 'T', '{}', '{}', 'h', 1, \(endedAt), 't', 'b', \(endedAt), \(endedAt), \(endedAt)
                FROM generate_series(1, \(count)) AS n
                """
            )
            try await bench.score(runs: 1)
            try await bench.running()
            try await bench.score(phase: "ended", runs: 2)
            for _ in 1...3 { try await bench.run() }
            #expect(try await bench.count("SELECT count(*) FROM activitySubjects WHERE owner IS NULL AND releasedAt IS NOT NULL") == count)
            #expect(bench.engine.state.withLock { Array($0.subjects.keys) } == ["m1"], "a correction of its last state may come")
            bench.clock.advance(.seconds(900))
            try await bench.run()
            #expect(bench.engine.state.withLock { $0.subjects.isEmpty })
            #expect(try await !bench.engine.stores.subjects.isAnyUnleased())
        }
    }

    @Test("leases are renewed next to the turns, and only those that have not run out")
    func renewed() async throws {
        try await LiveBench.with { bench in
            for match in ["m1", "m2"] { try await bench.score(match, runs: 1) }
            try await bench.run()
            func expire(_ match: String, after seconds: Int) async throws {
                let end: Query = "clock_timestamp() + \(seconds) * interval '1 second'"
                try await bench.pool.execute("UPDATE activeMatches SET leaseUntil = \(end) WHERE matchId = \(match)")
            }
            try await expire("m1", after: 4)
            try await expire("m2", after: 0)
            try await bench.engine.renewLeases()
            let renewed: Query = "SELECT matchId FROM activeMatches WHERE leaseUntil > clock_timestamp() + interval '10 s'"
            let kept = try await bench.pool.query(renewed)
            #expect(try kept.map { try $0.decode(String.self) } == ["m1"])
            #expect(bench.engine.state.withLock { Array($0.subjects.keys) } == ["m1"])
        }
    }
}
