import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Delivery

@Suite("What becomes visible late is found, and nobody searches everything for it")
struct LookBackTests {
    /// Where each turn begins when one position is passed in each.
    private static let starts: [Int] = {
        var lookBack = LookBack<Int>()
        return (0...20_000).map { turn in turn == 0 ? 0 : lookBack.next(from: turn) ?? 0 }
    }()

    @Test("what was passed t turns before it became visible is found within 2t turns", arguments: [1, 2, 3, 7, 8, 33, 64, 300, 2000])
    func late(_ turns: Int) throws {
        for passed in stride(from: 1, to: 5000, by: 3) {
            let visible = passed + turns
            let found = try #require((visible..<Self.starts.count).first { Self.starts[$0] < passed })
            #expect(found - visible <= 2 * turns, "passed in turn \(passed)")
        }
    }

    @Test("a turn looks back by fourteen turns on average, and a few begin at the beginning")
    func cost() {
        for turns in [64, 1000, 4096, 16_384] {
            let lookedBack = (1...turns).reduce(0) { $0 + $1 - Self.starts[$1] }
            #expect(lookedBack < 15 * turns)
        }
        #expect(Self.starts[1...].count { $0 == 0 } < 20)
    }

    @Test("a delivery whose claim is rolled back after later ones were claimed is found")
    func rolledBack() async throws {
        try await SendingBench.with { bench in
            let dispatcher = bench.dispatcher(ScriptedProvider().lookup)
            var claims = QueueClaims(policy: QueueScheduler.Policy())
            let start = ContinuousClock.now
            var claimed: [String] = []
            func turn(_ number: Int) async throws {
                try await bench.register("user-\(number)", "phone", token: SendingBench.token(number))
                try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "user-\#(number)", "title": "Goal"}"#)
                _ = try await dispatcher.round(&claims, now: start + .seconds(number)) { claimed.append($0.delivery.sendId ?? "") }
            }
            try await bench.register("user-0", "phone", token: SendingBench.token(0))
            try await bench.enqueue(#"{"sendId": "s0", "uid": "user-0", "title": "Goal"}"#)
            try await bench.pool.withConnection { other in
                try await other.executeScript("BEGIN; DELETE FROM pushReady")
                for number in 1...5 { try await turn(number) }
                #expect(claimed == ["s1", "s2", "s3", "s4", "s5"])
                try await other.executeScript("ROLLBACK")
            }
            for number in 6...15 where !claimed.contains("s0") { try await turn(number) }
            #expect(claimed.contains("s0"))
        }
    }

    @Test("next to a snapshot that keeps what was worked off, sweeps do not read all of it each time")
    func heldSnapshot() async throws {
        try await SendingBench.with { bench in
            try await bench.onOneConnection { pool, store in
                let dispatcher = SendDispatcher(
                    store: store,
                    throttles: ThrottleStore(pool: pool),
                    lookup: ScriptedProvider().lookup,
                    configuration: DispatcherConfiguration(worker: "test"),
                    logger: .silent
                )
                let rows = 5000
                let sweeps = 64
                try await bench.pool.withConnection { analyst in
                    try await analyst.executeScript("BEGIN ISOLATION LEVEL REPEATABLE READ")
                    _ = try await analyst.query("SELECT count(*) FROM pushReady")
                    try await pool.execute(
                        """
                        INSERT INTO pushQueues (queue, app, provider, environment, class) OVERRIDING SYSTEM VALUE
                        VALUES (77, 'a', 'apns', 'production', 'normal')
                        """
                    )
                    for statement: Query in [
                        "INSERT INTO pushReady (queue, deliveryId, attemptNumber, readyAt) SELECT 77, n, 1, now() FROM generate_series(1, \(rows)) n",
                        """
                        INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber)
                        SELECT n, 77, now() - interval '1 minute', 1 FROM generate_series(1, \(rows)) n
                        """,
                        """
                        INSERT INTO pushLeases (leaseToken, worker, claimedAt, leaseUntil, deliveryIds, attemptNumbers, tokenHashes)
                        SELECT n, 'other', now(), now() - interval '1 minute', ARRAY[n], '{1}', '{NULL}' FROM generate_series(1, \(rows)) n
                        """,
                        "DELETE FROM pushReady", "DELETE FROM pushScheduled", "DELETE FROM pushLeases",
                        // As autovacuum does: then the planner takes tables for empty whose indexes are not.
                        "ANALYZE pushReady, pushScheduled, pushLeases",
                    ] { try await pool.execute(statement) }
                    let before = try await entriesRead(pool)
                    var claims = QueueClaims(policy: QueueScheduler.Policy())
                    let start = ContinuousClock.now
                    for number in 1...sweeps { _ = try await dispatcher.round(&claims, now: start + .seconds(number)) { _ in } }
                    let read = try await entriesRead(pool).merging(before) { $0 - $1 }
                    // Those that begin at the beginning: 1, 2, 3, 4, 6, 8, 16, 32, 64.
                    let others = read.filter { $0.key != "pushready" }.values.reduce(0, +)
                    #expect(others >= rows)
                    #expect(others < Int64(2 * rows * sweeps / 5), "\(read)")
                    // The first.
                    #expect(read["pushready", default: 0] >= rows && read["pushready", default: 0] < Int64(rows + 10 * sweeps), "\(read)")
                    try await analyst.executeScript("ROLLBACK")
                }
            }
        }
    }

    @Test("next to a snapshot that keeps the leases that ended, outcomes look up their own, those of retries too")
    func leases() async throws {
        try await SendingBench.with { bench in
            for number in 0..<20 { try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            try await bench.onOneConnection { pool, store in
                let provider = ScriptedProvider([SendingBench.token(7): [.apns(503, "ServiceUnavailable")]])
                let dispatcher = SendDispatcher(
                    store: store,
                    throttles: ThrottleStore(pool: pool),
                    lookup: provider.lookup,
                    configuration: DispatcherConfiguration(delays: .quick(.zero), worker: "test"),
                    logger: .silent
                )
                try await bench.pool.withConnection { analyst in
                    try await analyst.executeScript("BEGIN ISOLATION LEVEL REPEATABLE READ")
                    _ = try await analyst.query("SELECT count(*) FROM pushLeases")
                    for statement: Query in [
                        """
                        INSERT INTO pushLeases (leaseToken, worker, claimedAt, leaseUntil, deliveryIds, attemptNumbers, tokenHashes)
                        SELECT -n, 'other', now(), now(), ARRAY[n], '{1}', '{NULL}' FROM generate_series(1, 20000) n
                        """,
                        "DELETE FROM pushLeases",
                        // As above.
                        "ANALYZE pushLeases",
                    ] { try await pool.execute(statement) }
                    let sends = (0..<20).map { #"{"sendId": "s\#($0)", "uid": "user-\#($0)", "title": "Goal"}"# }
                    try await bench.enqueue("[\(sends.joined(separator: ","))]")
                    let before = try await leasesLookedUp(pool)
                    try await dispatcher.runUntilIdle()
                    let read = try await leasesLookedUp(pool) - before
                    #expect(provider.calls.count == 21)
                    #expect(read < 2000, "\(read)")
                    try await analyst.executeScript("ROLLBACK")
                }
            }
        }
    }

    @Test("next to a snapshot that keeps what waited for others, the end of a flight looks up what waits for it")
    func flights() async throws {
        try await SendingBench.with { bench in
            for number in 0..<20 { try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            func updates(_ name: String) -> String {
                let sends = (0..<20).map { #"{"sendId": "\#(name)\#($0)", "uid": "user-\#($0)", "title": "t", "collapseId": "match-7"}"# }
                return "[\(sends.joined(separator: ","))]"
            }
            try await bench.onOneConnection { pool, store in
                let outcomes = store.outcomes(QueueDeliveries(logger: .silent))
                try await bench.pool.withConnection { analyst in
                    try await analyst.executeScript("BEGIN ISOLATION LEVEL REPEATABLE READ")
                    _ = try await analyst.query("SELECT count(*) FROM pushScheduled")
                    for statement: Query in [
                        """
                        INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber)
                        SELECT n, 77, now() + interval '1 hour', 1 FROM generate_series(1000001, 1020000) n
                        """,
                        "DELETE FROM pushScheduled",
                        // As above.
                        "ANALYZE pushScheduled",
                    ] { try await pool.execute(statement) }
                    try await bench.enqueue(updates("old"))
                    let old = try await bench.claim(20)
                    try await bench.enqueue(updates("new"))
                    let new = try await bench.claim(20)
                    let waiting = new.compactMap { delivery -> QueueDeliveries.Outcome? in
                        guard case .end(let next) = Preflight.decide(delivery, now: delivery.claimedAt) else { return nil }
                        let consequence = delivery.consequence(next)
                        return QueueDeliveries.Outcome(consequence: consequence, lease: delivery.lease, at: delivery.claimedAt)
                    }
                    try await bench.outcomes.write(waiting)
                    #expect(try await bench.count("pushScheduled") == 20)
                    let before = try await entriesRead(pool)["pushscheduled", default: 0]
                    let sent = try old.map { bench.outcome(of: $0, to: try #require($0.token), .accepted("m")) }
                    try await outcomes.write(sent)
                    let read = try await entriesRead(pool)["pushscheduled", default: 0] - before
                    #expect(read < 2000, "\(read)")
                    // All of them are due.
                    #expect(try await bench.store.promote() == 20)
                    try await analyst.executeScript("ROLLBACK")
                }
            }
        }
    }

    /// Entries of the index by which a lease is looked up.
    private func leasesLookedUp(_ pool: PostgresPool) async throws -> Int64 {
        _ = try await pool.query("SELECT pg_stat_force_next_flush()::text")
        return try await pool.query("SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'pushleases_pkey'")[0]
            .decode(Int64.self)
    }

    /// By table.
    private func entriesRead(_ pool: PostgresPool) async throws -> [String: Int64] {
        _ = try await pool.query("SELECT pg_stat_force_next_flush()::text")
        let rows = try await pool.query(
            """
            SELECT relname, sum(idx_tup_read)::bigint FROM pg_stat_user_indexes
            WHERE relname IN ('pushready', 'pushscheduled', 'pushleases') GROUP BY 1
            """
        )
        return Dictionary(uniqueKeysWithValues: try rows.map { try $0.decode((String, Int64).self) })
    }
}
