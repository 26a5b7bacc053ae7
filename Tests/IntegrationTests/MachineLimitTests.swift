import Foundation
import LiveActivities
import PushContract
import TestDatabase
import TestSupport
import Testing

@testable import Server

extension WholeService {
    @Suite("Limits of the machine")
    struct MachineLimitTests {
        @Test(
            "2,000 connections against few descriptors: no crash, the rest is closed, and the service answers afterwards",
            arguments: [256, 1_024]
        )
        func descriptors(limit: Int) async throws {
            #expect(ProcessLimits.raiseDescriptors() > 3_000, "the test itself needs descriptors")
            try await withDatabaseURL { database in
                let server = try await ServerProcess.start(database: database, limits: ["--nofile=\(limit)"])
                try await server.waitUntilReady()
                let port = try #require(URL(string: server.api.url)?.port)
                let counts = await HealthStorm.run(port: port, connections: 2_000, seconds: Soak.minutes.map { $0 * 60 } ?? 4)
                #expect(server.isRunning, "\(server.log.suffix(2_000))")
                #expect(counts.answers > 100 && counts.closed >= 20, "\(counts)")
                try await eventually("the service answers afterwards") { (try? await server.api.get("/health/ready").status) == 200 }
                #expect(try await server.api.post("/attempts", text: SampleAttempt(id: "after", at: .now()).text).status == 201)
                #expect(server.log.contains("reduced to fit the limit of open files"), "\(server.log)")
                let end = try await server.terminate()
                #expect(end.code == 0 && end.took < .seconds(20), "\(end)")
            }
        }

        @Test(
            "too few descriptors, or too little address space, end the start with what to raise",
            arguments: ["--nofile=200", "--as=1500000000"]
        )
        func refused(limit: String) async throws {
            let settings = ["PUSHWATCH_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "PUSHWATCH_TOKEN_KEYS": TestTokenKeys.file]
            let done = try await Shell.run(
                "/usr/bin/timeout",
                ["20", "prlimit", limit, ServerProcess.binary, "serve"],
                in: ProjectDirectory.root,
                environment: settings
            )
            #expect(done.code == 3)
            #expect(done.output.contains(limit.hasPrefix("--as") ? "ulimit -v unlimited" : "LimitNOFILE="), "\(done.output)")
        }
    }
}

@Suite("Limits of a process")
struct ProcessLimitsTests {
    private func configuration(listeners: Int = 1, database: Int = DatabasePools.Sizes.usual) -> ServerConfiguration {
        var configuration = ServerConfiguration(databaseURL: "u")
        configuration.databaseConnections = database
        if listeners == 2 { configuration.operatorsPort = 1 }
        return configuration
    }

    @Test("whatever the limit and the configuration, all parts together with the reserve fit it, or the start is refused")
    func fits() throws {
        for limit in [256, 300, 512, 1_024, 4_096, 65_536, 1 << 20] {
            for endpoints in [0, 2, 6, 40] {
                for (listeners, cores, database) in [(1, 2, 19), (2, 2, 500), (1, 64, 35)] {
                    let configuration = configuration(listeners: listeners, database: database)
                    do throws(ConfigurationError) {
                        let budget = try DescriptorBudget(
                            configuration,
                            endpoints: endpoints,
                            alertReceivers: 1,
                            limit: limit,
                            cores: cores
                        )
                        #expect(budget.total(endpoints: endpoints, listeners: listeners, cores: cores) <= limit)
                        #expect(budget.databaseConnections >= DatabasePools.Sizes.least, "the classes have no fewer")
                        #expect(budget.httpConnections >= 32 && budget.providerConnections >= 1)
                    } catch {
                        let isLarge = endpoints == 40 || cores == 64
                        #expect(limit <= 1_024 && isLarge || limit == 256 && listeners == 2, "\(limit) \(endpoints) \(cores): \(error)")
                    }
                }
            }
        }
    }

    @Test("with descriptors enough nothing is reduced")
    func enough() throws {
        let budget = try DescriptorBudget(configuration(), endpoints: 6, alertReceivers: 3, limit: 65_536, cores: 2)
        #expect(budget.httpConnections == 10_000 && budget.databaseConnections == DatabasePools.Sizes.usual)
        #expect(budget.providerConnections == 16 && budget.receiverConnections == 64)
    }

    @Test("score feeds and receivers of alerts have descriptors of their own; so many that they do not fit end the start")
    func feeds() throws {
        func budget(feeds: Int = 0, receivers: Int = 0, limit: Int) throws(ConfigurationError) -> DescriptorBudget {
            var configuration = configuration()
            configuration.matchFeeds = (0..<feeds).map { ScoreFeed(url: "https://feed-\($0).example/scores") }
            return try DescriptorBudget(configuration, endpoints: 2, alertReceivers: receivers, limit: limit, cores: 2)
        }
        let (none, some) = (try budget(limit: 1_024), try budget(feeds: 20, limit: 1_024))
        #expect(none.httpConnections - some.httpConnections == 120)
        #expect(some.total(endpoints: 2, listeners: 1, cores: 2) <= 1_024)
        #expect(try budget(receivers: 20, limit: 1_024).httpConnections == some.httpConnections)
        #expect(throws: ConfigurationError.self) { try budget(feeds: 200, limit: 1_024) }
        #expect(throws: ConfigurationError.self) { try budget(receivers: 200, limit: 1_024) }
    }

    @Test("below 256 the error says what the limit is and what to change")
    func tooFew() {
        let error = #expect(throws: ConfigurationError.self) {
            _ = try DescriptorBudget(configuration(), endpoints: 0, alertReceivers: 0, limit: 255, cores: 2)
        }
        #expect(error?.description.contains("is 255") == true && error?.description.contains("ulimit -n") == true)
    }

    @Test("the memory limit is the lowest of the process's groups and those around them, in both versions")
    func memory() {
        let files = [
            "/proc/self/cgroup": "0::/system.slice/pushwatch.service\n", "/sys/fs/cgroup/system.slice/memory.max": "1073741824\n",
            "/sys/fs/cgroup/system.slice/pushwatch.service/memory.max": "max\n",
        ]
        #expect(ProcessLimits.memory { files[$0] } == 1 << 30)
        let inContainer = [
            "/proc/self/cgroup": "4:memory:/docker/1f\n3:cpu:/\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "134217728\n",
        ]
        #expect(ProcessLimits.memory { inContainer[$0] } == 128 << 20)
        let unlimited = ["/proc/self/cgroup": "4:memory:/\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"]
        #expect(ProcessLimits.memory { unlimited[$0] } == nil)
        #expect(ProcessLimits.memory { _ in nil } == nil)
    }

    @Test("too little memory is refused with what to raise, enough and no limit are fine")
    func leastMemory() throws {
        try ProcessLimits().checkMemory()
        try ProcessLimits(memory: 256 << 20, addressSpace: 2 << 30).checkMemory()
        let group = #expect(throws: ConfigurationError.self) { try ProcessLimits(memory: 255 << 20).checkMemory() }
        #expect(group?.description.contains("255 MiB") == true && group?.description.contains("MemoryMax=") == true)
        let space = #expect(throws: ConfigurationError.self) { try ProcessLimits(addressSpace: 2_000 << 20).checkMemory() }
        #expect(space?.description.contains("(RLIMIT_AS) is 2000 MiB") == true)
    }
}
