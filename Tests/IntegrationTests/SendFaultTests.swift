import Attempts
import Delivery
import Foundation
import Postgres
import ProviderSimulator
import PushContract
import TestDatabase
import Testing

extension WholeService {
    /// `make soak-send` runs it, for ten minutes by default.
    @Suite("Sending through faults", .enabled(if: ProcessInfo.processInfo.environment["SOAK_SECONDS"] != nil))
    struct SendFaultTests {
        /// What the providers took, by the id that all tries of a delivery share.
        private struct Taken {
            var byId: [String: Int] = [:]
            var doubled: Int { byId.values.reduce(0) { $0 + $1 - 1 } }

            mutating func add(_ requests: [RecordedRequest]) {
                for request in requests where request.status == 200 { byId[request.header("apns-id") ?? "none", default: 0] += 1 }
            }
        }

        private static var seconds: Int? { ProcessInfo.processInfo.environment["SOAK_SECONDS"].flatMap(Int.init) }

        private func configuration(
            _ directory: String,
            like endpoints: SimulatorEndpoints?,
            _ credentials: SimulatorCredentials?
        )
            -> SimulatorConfiguration
        {
            var configuration = SimulatorConfiguration(directory: directory)
            configuration.keptRequests = 1_000_000
            configuration.credentials = credentials
            if let port = endpoints.flatMap({ URLComponents(string: $0.apnsURL)?.port }) { configuration.apnsPort = port }
            if let port = endpoints.flatMap({ URLComponents(string: $0.fcmURL)?.port }) { configuration.fcmPort = port }
            return configuration
        }

        @Test(
            "workers killed, the database crashed, the provider restarted: nothing is lost, doubles only where nobody knew, fsck is clean"
        )
        func faults() async throws {
            try await withScratchCluster { cluster in
                try await withTestDirectory { directory in
                    let end = ContinuousClock.now + .seconds(Self.seconds ?? 0)
                    let load = PostingLoad(url: "", sendsToo: true, limit: 1_000_000, pause: .milliseconds(20))
                    let reader = OutcomeReader(url: "")
                    var taken = Taken()
                    var servers: [ServerProcess] = []
                    var endpoints: SimulatorEndpoints?
                    var credentials: SimulatorCredentials?
                    var environment: [String: String] = [:]
                    var faults = (kills: 0, crashes: 0, restarts: 0)
                    var unanswered = 0

                    let began = ContinuousClock.now
                    /// Long work says how far it is.
                    func say(_ line: String) {
                        let at = (ContinuousClock.now - began).components.seconds
                        FileHandle.standardError.write(Data("soak-send \(at) s: \(line)\n".utf8))
                    }
                    func start() async throws -> ServerProcess {
                        try await ServerProcess.start(database: cluster.url, settings: environment, arguments: ["--migrate"])
                    }
                    func replace(_ index: Int) async throws {
                        servers[index] = try await start()
                        load.move(to: servers[index].api.url)
                        reader.move(to: servers[index].api.url)
                    }
                    /// One life of the provider, with faults while the load runs.
                    func life(_ body: () async throws -> Void) async throws {
                        let provider = try await ProviderSimulator.running(configuration(directory, like: endpoints, credentials)) {
                            simulator,
                            at in
                            if endpoints == nil {
                                endpoints = at
                                credentials = simulator.credentials
                                environment = try ProviderFiles(simulator, at, directory: directory).apns
                                servers = [try await start()]
                                servers.append(try await start())
                                for server in servers { try await server.waitUntilReady() }
                                load.move(to: servers[0].api.url)
                                reader.move(to: servers[0].api.url)
                            }
                            try await body()
                            return simulator
                        }
                        // Until its end it answers what is under way.
                        taken.add(provider.requests())
                        say("\(faults), \(load.sends.count) sends acknowledged, \(taken.byId.count) taken")
                    }

                    try await life {}
                    try await reader.run {
                        try await load.run(posters: 4) {
                            var round = 0
                            repeat {
                                try await life {
                                    for index in 0..<2 {
                                        try await load.progress(200, within: .seconds(120))
                                        try await servers[index].killNow()
                                        faults.kills += 1
                                        try await replace(index)
                                    }
                                    if round.isMultiple(of: 2) {
                                        try await load.progress(100, within: .seconds(120))
                                        cluster.crash()
                                        try await cluster.start()
                                        faults.crashes += 1
                                    }
                                    try await load.progress(100, within: .seconds(120))
                                }
                                faults.restarts += 1
                                round += 1
                            } while ContinuousClock.now < end
                        }
                    }
                    try await life {
                        try await withPool(cluster.url) { pool in
                            try await expectSent(load.sends, on: pool)
                            try await reader.expectSentOnce(load.sends, on: pool)
                            let unknown = try await pool.query(
                                "SELECT count(*) FROM notificationDeliveryAttempts WHERE eventType = 'send' AND sendId LIKE 'p%' AND reasonCode = 'network'"
                            )[0].decode(Int.self)
                            let lines = try await Fsck([QueueCheck()], pool: pool, now: .now()).run().lines
                            #expect(!lines.isEmpty && lines.allSatisfy { $0.faultCount == 0 }, "\(lines.flatMap(\.faults))")
                            try await Ledger(session: pool).expectConsistent()
                            print("sends: \(load.sends.count) acknowledged and sent, \(faults), tries without an answer \(unknown)")
                            #expect(!load.sends.isEmpty)
                            unanswered = unknown
                        }
                        // While the provider is there: idle connections would keep it from ending.
                        for server in servers { #expect(try await server.terminate().code == 0) }
                    }
                    print("sends: \(taken.byId.count) deliveries taken by the provider, \(taken.doubled) more than once")
                    #expect(taken.byId.count >= load.sends.count)
                    #expect(taken.doubled <= unanswered)
                }
            }
        }
    }
}
