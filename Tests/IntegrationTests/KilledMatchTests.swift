import Delivery
import Foundation
import LiveActivities
import Postgres
import ProviderSimulator
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("The server dies in the middle of a match")
    struct KilledMatchTests {
        private static let runners = 60
        private static let newcomers = 100..<160

        @Test("L-04: kill -9 in mid-match: the next process completes it, starts nothing twice, and timestamps go on rising")
        func killed() async throws {
            try await withMatch { fixture, simulator, pool, database, start in
                let first = try await start()
                var runs = 2
                // Starts are released slowly, so that the kill comes between them.
                try await eventually("starts and updates are on their way") {
                    runs += 1
                    try await fixture.score("m", phase: "live", runs: runs, now: .now())
                    return calls(simulator, kind: "b").count >= 5 && calls(simulator, kind: "c").count >= KilledMatchTests.runners
                }
                // Half of the updates are never answered: the kill comes while they are under way.
                simulator.setFaults([FaultRule(provider: .apns, share: 0.5, tokenPrefix: "c", effect: .hang)])
                runs += 1
                try await fixture.score("m", phase: "live", runs: runs, now: .now())
                try await eventually("updates are under way") { unanswered(simulator) >= 10 }
                try await first.killNow()
                let dead = try await pool.query("SELECT worker FROM pushLeases").map { try $0.decode(String.self) }
                simulator.setFaults([])
                runs += 1
                try await fixture.score("m", phase: "live", runs: runs, now: .now())
                let second = try await start()
                try await eventually("the next process has sent the newest state to everybody") {
                    let newest = try await fixture.newest("m").timestamp
                    let last = Dictionary(grouping: calls(simulator, kind: "c"), by: \.token).mapValues { $0.last?.timestamp }
                    return last.count == KilledMatchTests.runners && last.values.allSatisfy { $0 == newest }
                }
                try await eventually("every start that was not claimed by the dead process is sent") {
                    // Of what it had leased and not begun nobody knows that it was not: its lease runs out after a minute.
                    try await pool.query(
                        """
                        SELECT count(*) FROM liveActivities AS activity WHERE status = 'pending' AND startSentAt IS NULL AND NOT EXISTS (
                            SELECT FROM activityStarts AS start JOIN pushLeasedDeliveries USING (deliveryId)
                            WHERE start.userId = activity.userId AND start.deviceId = activity.deviceId AND worker = ANY(\(dead)))
                        """
                    )[0].decode(Int.self) == 0
                }
                let lost = try await pool.query("SELECT count(*) FROM activityStarts WHERE outcome IS NULL")[0].decode(Int.self)
                try await eventually("starts under way are answered") {
                    try await pool.query("SELECT count(*) FROM activityStarts WHERE outcome IS NOT NULL")[0].decode(Int.self)
                        >= KilledMatchTests.newcomers.count - lost
                }
                try await expectOrder(simulator, pool)
                try await expectRows(simulator, pool)
                let fsck = try RunningCommand(["fsck"], settings: ["DATABASE_URL": database])
                #expect(try await fsck.ended() == 0, "\(fsck.text)")
                #expect(try await pool.query("SELECT epoch FROM activeMatches WHERE matchId = 'm'")[0].decode(Int.self) == 2)
                #expect(try await second.terminate().code == 0)
            }
        }

        private func expectOrder(_ simulator: ProviderSimulator, _ pool: PostgresPool) async throws {
            let starts = Dictionary(grouping: calls(simulator, kind: "b"), by: \.token)
            #expect(!starts.isEmpty && starts.values.allSatisfy { $0.count == 1 }, "a start was sent twice")
            let claimed = try await pool.query("SELECT count(*) FROM activityStarts")[0].decode(Int.self)
            #expect(claimed == KilledMatchTests.newcomers.count, "each follower's start is claimed once")
            let updates = Dictionary(grouping: calls(simulator, kind: "c"), by: \.token)
            #expect(updates.count == KilledMatchTests.runners && updates.values.contains { $0.count > 1 })
            for stamps in updates.values {
                // The dead process may have sent what its successor sends again; never anything older.
                #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0.timestamp < $1.timestamp || $0.body == $1.body })
                #expect(zip(stamps, stamps.dropFirst()).filter { $0.timestamp == $1.timestamp }.count <= 1)
            }
        }

        /// Every request that the simulator saw has a row of its own, whoever made it; what was under way at the kill has an unknown
        /// outcome.
        private func expectRows(_ simulator: ProviderSimulator, _ pool: PostgresPool) async throws {
            let living: Query = "(SELECT owner FROM activeMatches WHERE matchId = 'm')"
            let lost = try await pool.query(
                "SELECT coalesce(sum(cardinality(uids)), 0)::bigint FROM pushIntents WHERE owner <> \(living)"
            )[0].decode(Int.self)
            #expect(lost >= unanswered(simulator))
            // Two minutes pass.
            try await pool.execute("UPDATE pushIntents SET startedAt = startedAt - interval '3 minutes' WHERE owner <> \(living)")
            // And the leases of the starts that it was sending.
            try await pool.execute("UPDATE pushLeases SET leaseUntil = clock_timestamp()")
            try await eventually("what the dead process had under way is settled") {
                try await pool.query(
                    """
                    SELECT (SELECT count(*) FROM pushIntents) + (SELECT count(*) FROM activityStarts WHERE outcome IS NULL)
                    """
                )[0].decode(Int.self) == 0
            }
            let rows = try await pool.query(
                """
                SELECT tokenHash, count(*) FILTER (WHERE status = 'sent'), count(*) FILTER (WHERE providerErrorCode = 'OutcomeUnknown'), count(*)
                FROM notificationDeliveryAttempts WHERE pushType = 'liveactivity' GROUP BY tokenHash
                """
            ).map { try $0.decode((String, Int, Int, Int).self) }
            let known = Dictionary(uniqueKeysWithValues: rows.map { ($0.0, $0) })
            for (token, requests) in Dictionary(grouping: simulator.requests(provider: .apns).filter { $0.token != nil }, by: \.token) {
                let row = try #require(known[try TokenHash.apns(token ?? "").rawValue], "a token without any row")
                let answered = requests.count { $0.status == 200 }
                #expect(row.1 <= answered, "a row says sent that nobody took")
                #expect(row.1 + row.2 == row.3, "nothing else can come of them")
                #expect(row.3 >= requests.count, "a request without a row")
            }
            #expect(rows.reduce(0) { $0 + $1.2 } >= unanswered(simulator))
        }

        private func unanswered(_ simulator: ProviderSimulator) -> Int {
            simulator.requests(provider: .apns).count { $0.token?.first == "c" && $0.status == nil }
        }

        private struct Call {
            var token: String
            var timestamp: Int64
            var body: String
        }

        private func calls(_ simulator: ProviderSimulator, kind: Character) -> [Call] {
            simulator.requests(provider: .apns).compactMap { request in
                guard let token = request.token, token.first == kind, request.status == 200,
                    let place = request.body.range(of: "\"timestamp\":")
                else { return nil }
                let digits = request.body[place.upperBound...].prefix(while: \.isNumber)
                return Call(token: token, timestamp: Int64(digits) ?? 0, body: request.body)
            }
        }

        private func withMatch(
            _ body: (
                _ fixture: LiveFixture,
                _ simulator: ProviderSimulator,
                _ pool: PostgresPool,
                _ database: String,
                _ start: () async throws -> ServerProcess
            ) async throws -> Void
        ) async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
                        let files = try ProviderFiles(simulator, endpoints, directory: directory)
                        let settings = files.apns.merging(["LIVE_STARTS_PER_SECOND": "10"]) { $1 }
                        try await withPool(database) { pool in
                            let fixture = LiveFixture(pool: pool, cipher: TokenCipher(TestTokenKeys.keySet))
                            try await fixture.running(0..<KilledMatchTests.runners, of: "m", now: .now())
                            try await fixture.followers(KilledMatchTests.newcomers, of: "m", now: .now())
                            try await fixture.score("m", phase: "live", runs: 1, now: .now())
                            try await body(fixture, simulator, pool, database) {
                                try await ServerProcess.start(database: database, settings: settings)
                            }
                        }
                    }
                }
            }
        }
    }
}
