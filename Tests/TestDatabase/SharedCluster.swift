import Foundation
import LocalPostgres
import Logging
import Postgres
import Synchronization

/// One cluster for the whole test process, started when the first test asks for a database.
actor SharedCluster {
    static let shared = SharedCluster()
    private var starting: Task<TestCluster, any Error>?

    func cluster() async throws -> TestCluster {
        // Every caller awaits the one start; a failed one fails them all, with its reason.
        let task = starting ?? Task { try await TestCluster.start() }
        starting = task
        return try await task.value
    }
}

/// What the exit handler, a C function without context, stops.
let runningCluster = Mutex<LocalPostgres?>(nil)

/// Stops and deletes the cluster when the test process ends in the ordinary way. What a killed process leaves is reaped by the next.
func stopRunningClusterAtExit() {
    atexit {
        let cluster = runningCluster.withLock { cluster in
            defer { cluster = nil }
            return cluster
        }
        guard let cluster else { return }
        cluster.stopBlocking(.immediate)
        try? FileManager.default.removeItem(atPath: cluster.directory)
    }
}
