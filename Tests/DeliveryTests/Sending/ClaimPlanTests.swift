import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Delivery

@Suite("The claim's plan")
struct ClaimPlanTests {
    @Test("a claim out of a large backlog walks indexes only")
    func plan() async throws {
        try await SendingBench.with { bench in
            let pool = bench.pool
            try await bench.fill(50_000)
            let lines: [String] = try await pool.withConnection { connection in
                try await connection.perform { connection in
                    let claim = ClaimQueries.claim(queue: 1, cursor: 0, limit: 250, lease: .seconds(60), worker: "w")
                    return try connection.query("EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) \(claim)").map { try $0.decode(String.self) }
                }
            }
            let large = ["pushready", "pushdeliveries", "pushsends"]
            let scans = lines.filter { line in large.contains { line.contains("Seq Scan on \($0)") } }
            #expect(scans.isEmpty, "\(lines.joined(separator: "\n"))")
            #expect(try await bench.count("pushLeasedDeliveries") == 250)
        }
    }

    @Test("what a circuit blocked, and retries of an outage, are found by index, also by a plan from when nothing waited")
    func release() async throws {
        try await SendingBench.with { bench in
            try await bench.onOneConnection { pool, store in
                try await pool.execute("VACUUM ANALYZE pushScheduled")
                // A prepared statement has a plan of its own from its sixth execution on.
                for _ in 1...6 {
                    #expect(try await store.unblockedCircuits().isEmpty)
                    #expect(try await store.requeueUnblocked([1], limit: 1000) == 0)
                    #expect(try await store.requeueRetries(of: 77, after: 0, limit: 1000).isEmpty)
                }
                try await pool.execute(
                    """
                    INSERT INTO pushQueues (queue, app, provider, environment, class) OVERRIDING SYSTEM VALUE
                    VALUES (77, 'a', 'fcm', 'production', 'normal')
                    """
                )
                try await pool.execute(
                    """
                    WITH circuit AS (
                        INSERT INTO pushCircuits (kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals,
                            nextProbeAt, closedAt, closedBy)
                        VALUES ('failing', 'fcm', 'a', 'production', '', '', 'c', 'x', now(), now(), 1, now(), now(), 'probe') RETURNING circuitId
                    )
                    INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber, circuitId)
                    SELECT n, 77, clock_timestamp() + interval '1 day', 1, circuitId FROM circuit, generate_series(1, 20000) n
                    """
                )
                try await pool.execute(
                    """
                    INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber, reasonCode)
                    SELECT n, 77, clock_timestamp() + interval '1 hour', 2, 'network' FROM generate_series(20001, 40000) n
                    """
                )
                let circuits = try await store.unblockedCircuits()
                #expect(circuits == [1])
                #expect(try await store.requeueUnblocked(circuits, limit: 1000) == 1000)
                let retries = try await store.requeueRetries(of: 77, after: 20_500, limit: 1000)
                #expect(retries.count == 1000 && retries.first == 20_501 && retries.last == 21_500)
                _ = try await pool.query("SELECT pg_stat_force_next_flush()::text")
                let read = try await pool.query("SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'pushscheduled'")
                #expect(try read[0].decode(Int64.self) == 0)
            }
        }
    }

    @Test("tokens are looked up by index among many devices: those that a send names, and those that may be of the other environment")
    func tokens() async throws {
        try await SendingBench.with { bench in
            try await bench.pool.execute(
                """
                INSERT INTO devices (userId, deviceId, platform, provider, environment, app, pushToken, pushTokenHash, tokenState, tokenStateSince,
                    pushToStartTokenHash, pushToStartTokenState, registrationVersion, registeredAt, tokenRegisteredAt, lastSeenAt, expiresAt)
                SELECT 'u' || n, 'd' || n, 'ios', 'apns', 'production', 'com.example.app', 't' || n, 'h' || n, 'active', now(), 's' || n, 'active',
                    n, now(), now(), now(), now() + interval '1 day' FROM generate_series(1, 20000) n
                """
            )
            let device = try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.pool.execute("ANALYZE devices")
            try await bench.onOneConnection { pool, _ in
                let (named, switched) = try await pool.performTransaction { connection in
                    let environment = TokenEnvironment(
                        tokenHash: device.tokenHash,
                        app: device.app,
                        registrationVersion: device.registrationVersion,
                        environment: .production
                    )
                    let named = try TokenRegistry.NamedTokens([device.tokenHash.rawValue, "h1", "s1"], on: connection)
                    let switched = try TokenEnvironmentQueries.switchEnvironment([environment], on: connection)
                    try TokenEnvironmentQueries.finishTrial([environment], as: .found, on: connection)
                    return (named, switched)
                }
                #expect(named.kinds == [device.tokenHash.rawValue: .push, "h1": .push, "s1": .pushToStart])
                #expect(switched == [0])
                _ = try await pool.query("SELECT pg_stat_force_next_flush()::text")
                let read = try await pool.query("SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'devices'")
                #expect(try read[0].decode(Int64.self) == 0)
            }
        }
    }

    @Test("a look for due deliveries reads none of those that are not due")
    func due() async throws {
        try await SendingBench.with { bench in
            try await bench.pool.execute(
                """
                INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber)
                SELECT n, 1, clock_timestamp() + interval '1 day', 1 FROM generate_series(1, 20000) n
                """
            )
            let lines: [String] = try await bench.pool.withConnection { connection in
                try await connection.perform {
                    try $0.query("EXPLAIN (ANALYZE, TIMING OFF) \(ClaimQueries.promote(since: nil))").map { try $0.decode(String.self) }
                }
            }
            #expect(!lines.contains { $0.contains("Rows Removed by Filter") }, "\(lines.joined(separator: "\n"))")
        }
    }
}
