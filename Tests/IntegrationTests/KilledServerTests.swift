import Attempts
import Delivery
import Foundation
import Postgres
import ProviderSimulator
import PushContract
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("The server dies under load")
    struct KilledServerTests {
        private func withProviders(
            _ body: (_ database: String, _ settings: [String: String]) async throws -> Void
        ) async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
                        let files = try ProviderFiles(simulator, endpoints, directory: directory)
                        try await body(database, files.apns)
                    }
                }
            }
        }

        /// Every acknowledged send is final, with a row for each try and exactly one that says `sent`.
        ///
        /// - Parameter alive: since when the server runs that sends what is left; leases from before are a killed one's.
        private func expectSendsFinal(_ sends: Set<String>, since alive: Timestamp, on pool: PostgresPool) async throws {
            let ids = Array(sends)
            // They would run out with time; the time is given here rather than waited for.
            try await pool.execute("UPDATE pushLeases SET leaseUntil = now() WHERE claimedAt < \(alive)")
            var final = -1
            // A long run leaves a backlog behind, which takes as long as it takes: what must not be is that nothing moves.
            while final < ids.count {
                let before = final
                final = try await eventually("more than \(before) of \(ids.count) acknowledged sends are final") {
                    let count = try await self.final(ids, on: pool)
                    return count > before ? count : nil
                }
            }
            let wrong = try await pool.query(
                """
                SELECT count(*) FROM unnest(\(ids)) AS i (id) JOIN pushDeliveries d ON d.sendId = i.id
                JOIN pushFinished f USING (deliveryId)
                LEFT JOIN LATERAL (
                    SELECT count(*) AS rows, count(*) FILTER (WHERE a.status = 'sent') AS sent
                    FROM notificationDeliveryAttempts a WHERE a.uid = d.uid AND a.sendId = d.sendId
                ) a ON true
                WHERE a.rows <> f.attempts OR a.sent <> 1
                """
            )[0].decode(Int.self)
            #expect(wrong == 0, "sends whose rows are not one for each try")
        }

        private func final(_ ids: [String], on pool: PostgresPool) async throws -> Int {
            try await pool.query(
                """
                SELECT count(*) FROM unnest(\(ids)) AS i (id) JOIN pushDeliveries d ON d.sendId = i.id
                JOIN pushFinished f USING (deliveryId) WHERE f.outcome = 'sent'
                """
            )[0].decode(Int.self)
        }

        private func now(_ database: String) async throws -> Timestamp {
            try await withPool(database) { try await $0.query("SELECT clock_timestamp()")[0].decode(Timestamp.self) }
        }

        @Test("kill -9 four times: what was acknowledged is there once, rollups are right, every send's end is read once")
        func killed() async throws {
            var soak = Soak(rounds: 4)
            try await withProviders { database, settings in
                var server = try await ServerProcess.start(database: database, settings: settings)
                let load = PostingLoad(url: server.api.url, sendsToo: true)
                let reader = OutcomeReader(url: server.api.url)
                var alive = try await now(database)
                try await reader.run {
                    try await load.run(posters: 8) {
                        while soak.next() {
                            try await load.progress(600)
                            try await server.killNow()
                            alive = try await now(database)
                            server = try await ServerProcess.start(database: database, settings: settings)
                            load.move(to: server.api.url)
                            reader.move(to: server.api.url)
                        }
                        try await load.progress(600)
                    }
                }
                try await withPool(database) { pool in
                    let sends = load.sends
                    try await pool.analyze()
                    try await expectSendsFinal(sends, since: alive, on: pool)
                    #expect(!sends.isEmpty)
                    try await reader.expectSentOnce(sends, on: pool)
                    try await FaultReport(fault: "kill -9", times: soak.rounds, load: load).expectNothingLost(on: pool)
                }
                #expect(try await server.terminate().code == 0)
            }
        }

        @Test(
            "one of two instances is stopped under load and continued later: the other sends its leases, and late outcomes change nothing"
        )
        func frozen() async throws {
            try await withProviders { database, settings in
                let first = try await ServerProcess.start(database: database, settings: settings)
                let second = try await ServerProcess.start(database: database, settings: settings)
                try await second.waitUntilReady()
                let load = PostingLoad(url: first.api.url, sendsToo: true)
                let other = PostingLoad(url: second.api.url, prefix: "o", sendsToo: true)
                try await withPool(database) { pool in
                    try await load.run(posters: 4) {
                        try await other.run(posters: 4) {
                            try await load.progress(300)
                            // With deliveries under way, of either instance.
                            try await eventually("it holds leases") {
                                first.freeze()
                                let workers = try await pool.query("SELECT DISTINCT worker FROM pushLeases").map {
                                    try $0.decode(String.self)
                                }
                                if workers.contains(where: { $0.contains(":\(first.processIdentifier):") }) { return true }
                                first.thaw()
                                return false
                            }
                            let stopped = try await now(database)
                            try await other.progress(300)
                            let sends = other.sends
                            #expect(!sends.isEmpty)
                            try await expectSendsFinal(sends, since: stopped, on: pool)
                            first.thaw()
                            try await load.progress(300)
                            try await other.progress(300)
                        }
                    }
                    try await expectSendsFinal(load.sends.union(other.sends), since: try await now(database), on: pool)
                    try await FaultReport(fault: "SIGSTOP of an instance", times: 1, load: load).expectNothingLost(on: pool)
                    #expect(try await Ledger(session: pool).found(other.attempts) == other.attempts.count)
                    let lines = try await Fsck([QueueCheck()], pool: pool, now: .now()).run().lines
                    #expect(!lines.isEmpty && lines.allSatisfy { $0.faultCount == 0 }, "\(lines.flatMap(\.faults))")
                }
                for server in [first, second] { #expect(try await server.terminate().code == 0) }
            }
        }

        @Test("SIGTERM under load: it drains, ends with 0 within 30 s, and nothing acknowledged is lost")
        func terminated() async throws {
            try await withProviders { database, settings in
                let server = try await ServerProcess.start(database: database, settings: settings)
                let load = PostingLoad(url: server.api.url, sendsToo: true)
                try await load.run(posters: 8) {
                    try await load.progress(600)
                    let end = try await server.terminate()
                    print("SIGTERM: exit code \(end.code) after \(end.took)")
                    #expect(end.code == 0, "\(server.log.suffix(2000))")
                    #expect(end.took < .seconds(30))
                }
                let alive = try await now(database)
                let next = try await ServerProcess.start(database: database, settings: settings)
                try await withPool(database) { pool in
                    try await expectSendsFinal(load.sends, since: alive, on: pool)
                    let ledger = Ledger(session: pool)
                    #expect(try await ledger.found(load.attempts) == load.attempts.count)
                    try await ledger.expectConsistent()
                }
                #expect(try await next.terminate().code == 0)
            }
        }
    }
}
