import Foundation
import LocalPostgres
import Logging
import Postgres
import Synchronization

/// One cluster of its kind for the whole test process, started when the first test asks for a database.
actor SharedCluster {
    /// What `make test` tests with.
    static let shared = TestEngine.isDistributed ? distributed : SharedCluster { try await TestCluster.start() }
    static let distributed = SharedCluster { try await TestCluster.startDistributed() }

    private let start: @Sendable () async throws -> TestCluster
    private var starting: Task<TestCluster, any Error>?

    private init(_ start: @escaping @Sendable () async throws -> TestCluster) { self.start = start }

    func cluster() async throws -> TestCluster {
        // Every caller awaits the one start; a failed one fails them all, with its reason.
        let task = starting ?? Task { try await start() }
        starting = task
        return try await task.value
    }
}

/// What the exit handler, a C function without context, stops.
let runningServers = Mutex<[LocalPostgres]>([])

/// Stops and deletes servers when the test process ends in the ordinary way. What a killed process leaves is reaped by the next.
func stopAtExit(_ servers: [LocalPostgres]) {
    let isFirst = runningServers.withLock { running in
        defer { running += servers }
        return running.isEmpty
    }
    guard isFirst else { return }
    atexit {
        let servers = runningServers.withLock { running in
            defer { running = [] }
            return running
        }
        for server in servers {
            server.stopBlocking(.immediate)
            try? FileManager.default.removeItem(atPath: server.directory)
        }
    }
}
