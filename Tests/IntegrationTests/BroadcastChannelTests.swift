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
    /// The channel queue over TLS and HTTP/2, in processes that can be killed.
    @Suite("Broadcast channels of a whole service")
    struct BroadcastChannelTests {
        @Test(
            "a match through a channel: kill -9 in its middle makes no second channel, every broadcast has its row, and in the end the channel is gone"
        )
        func killed() async throws {
            try await withChannels { fixture, simulator, pool, start in
                let first = try await start("own")
                try await eventually("everybody listens") { try await listening(pool) == 40 }
                #expect(starts(simulator).count { $0.body.contains("input-push-channel") } == 40)
                try await notify(2...6, fixture, simulator)
                try await first.killNow()
                let second = try await start("own")
                try await notify(7...10, fixture, simulator)
                #expect(simulator.requests(provider: .apns).filter { $0.path.hasSuffix("/channels") && $0.method == "POST" }.count == 1)
                #expect(starts(simulator).count == 40, "nobody is started twice")
                let stamps = broadcasts(simulator).map(stamp)
                #expect(stamps.count >= 9 && zip(stamps, stamps.dropFirst()).allSatisfy { $0 <= $1 })
                #expect(
                    simulator.requests(provider: .apns).filter { $0.body.contains(#""event":"update""#) && $0.path.hasPrefix("/3/") }
                        .isEmpty
                )
                try await fixture.score("m", phase: "ended", runs: 11, now: .now())
                for number in 1...4 {
                    try await eventually("end \(number) is sent") {
                        broadcasts(simulator).filter { $0.body.contains(#""event":"end""#) }.count == number
                    }
                    // The waits between are minutes.
                    try await eventually("end \(number) is recorded") {
                        try await pool.execute(
                            "UPDATE activityChannels SET endDueAt = clock_timestamp() WHERE endsSent = \(number) AND endDueAt IS NOT NULL"
                        )
                            == 1 || number == 4
                    }
                }
                try await eventually("the channel is deleted") {
                    try await pool.query("SELECT count(*) FROM activityChannels")[0].decode(Int.self) == 0
                }
                #expect(simulator.requests(provider: .apns).filter { $0.method == "DELETE" && $0.status == 204 }.count == 1)
                try await expectRows(simulator, pool)
                let answer = try await second.api.get("/live-activities/channels")
                #expect(answer.status == 200 && answer.json["mode"] as? String == "own" && answer.array("channels").isEmpty)
                #expect(answer.array("scopes").first?["count"] as? Int == 0)
                #expect(try await second.terminate().code == 0)
            }
        }

        @Test("when Apple makes no channel, all go by tokens, and nobody waits for it")
        func refused() async throws {
            try await withChannels(channelLimit: 0) { fixture, simulator, pool, start in
                let server = try await start("own")
                try await eventually("everybody is started") { starts(simulator).count == 40 }
                #expect(starts(simulator).count { $0.body.contains(#""input-push-token":1"#) } == 40)
                let refused = simulator.requests(provider: .apns).filter { $0.reason == "CannotCreateChannelConfig" }
                #expect(refused.count == 1)
                let scope = try await eventually("what Apple answered is shown") {
                    try await server.api.get("/live-activities/channels").array("scopes").first { $0["pausedUntil"] != nil }
                }
                #expect(scope["refusal"] as? String == "CannotCreateChannelConfig")
                #expect(try await server.terminate().code == 0)
            }
        }

        @Test("two instances make one channel")
        func twoInstances() async throws {
            try await withChannels { fixture, simulator, pool, start in
                async let one = start("own")
                async let other = start("own")
                let servers = try await [one, other]
                try await eventually("everybody listens") { try await listening(pool) == 40 }
                try await notify(2...4, fixture, simulator)
                #expect(simulator.requests(provider: .apns).filter { $0.path.hasSuffix("/channels") && $0.method == "POST" }.count == 1)
                for server in servers { #expect(try await server.terminate().code == 0) }
                try await expectRows(simulator, pool)
            }
        }

        // MARK: Looking

        private func listening(_ pool: PostgresPool) async throws -> Int {
            try await pool.query("SELECT count(*) FROM liveActivities WHERE status = 'active' AND channelId IS NOT NULL")[0].decode(
                Int.self
            )
        }

        private func starts(_ simulator: ProviderSimulator) -> [RecordedRequest] {
            simulator.requests(provider: .apns).filter { $0.body.contains(#""event":"start""#) && $0.status == 200 }
        }

        private func broadcasts(_ simulator: ProviderSimulator) -> [RecordedRequest] {
            simulator.requests(provider: .apns).filter { $0.path.hasPrefix("/4/broadcasts") && $0.status == 200 }
        }

        private func stamp(_ request: RecordedRequest) -> Int64 {
            guard let place = request.body.range(of: "\"timestamp\":") else { return 0 }
            return Int64(request.body[place.upperBound...].prefix(while: \.isNumber)) ?? 0
        }

        /// States one after another, each broadcast before the next.
        private func notify(_ runs: ClosedRange<Int>, _ fixture: LiveFixture, _ simulator: ProviderSimulator) async throws {
            for runs in runs {
                try await fixture.score("m", phase: "live", runs: runs, now: .now())
                let newest = try await fixture.newest("m").timestamp
                try await eventually("state \(runs) is broadcast") { broadcasts(simulator).contains { stamp($0) == newest } }
            }
        }

        private func expectRows(_ simulator: ProviderSimulator, _ pool: PostgresPool) async throws {
            let sent = broadcasts(simulator).count
            let rows = try await pool.query(
                "SELECT count(*) FROM notificationDeliveryAttempts WHERE uid = 'channel:m' AND status = 'sent'"
            )[0].decode(Int.self)
            // One that the dead process had sent and not written is sent again under the same attemptId.
            #expect((sent - 1...sent).contains(rows), "\(rows) rows, \(sent) broadcasts")
        }

        private func withChannels(
            channelLimit: Int = 10_000,
            _ body: (
                _ fixture: LiveFixture,
                _ simulator: ProviderSimulator,
                _ pool: PostgresPool,
                _ start: @Sendable (_ channels: String) async throws -> ServerProcess
            ) async throws -> Void
        ) async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    var simulation = SimulatorConfiguration(directory: directory)
                    simulation.channelLimit = channelLimit
                    try await ProviderSimulator.running(simulation) { simulator, endpoints in
                        let files = try ProviderFiles(simulator, endpoints, directory: directory)
                        try await withPool(database) { pool in
                            let fixture = LiveFixture(pool: pool, cipher: TokenCipher(TestTokenKeys.keySet))
                            try await fixture.followers(0..<40, of: "m", now: .now())
                            try await fixture.score("m", phase: "live", runs: 1, now: .now())
                            try await body(fixture, simulator, pool) { channels in
                                try await ServerProcess.start(
                                    database: database,
                                    settings: files.apns.merging(["LIVE_CHANNELS": channels]) { $1 }
                                )
                            }
                        }
                    }
                }
            }
        }
    }
}
