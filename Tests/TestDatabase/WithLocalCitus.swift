import Foundation
package import LocalPostgres

/// A cluster for the time of `body`, which may kill its nodes.
///
/// - Parameter hasNetwork: it may cut the network of a worker.
package func withLocalCitus<Value>(
    workers: Int = 2,
    hasNetwork: Bool = false,
    _ body: (LocalCitus) async throws -> Value
) async throws -> Value {
    // What a node has said is committed must be there when it starts again.
    let cluster = try await LocalCitus.startForTests(workers: workers, hasNetwork: hasNetwork, settings: ["synchronous_commit": "on"])
    defer {
        cluster.stop()
        for node in cluster.nodes { try? FileManager.default.removeItem(atPath: node.directory) }
    }
    return try await body(cluster)
}

extension LocalCitus {
    static func startForTests(workers: Int = 2, hasNetwork: Bool = false, settings: [String: String] = [:]) async throws -> LocalCitus {
        guard let binaries = TestEngine.citusBinaries else { throw TestEngine.NoCitus() }
        let common = ["shared_buffers": "32MB", "deadlock_timeout": "100ms", "citus.recover_2pc_interval": "1s"]
        let settings = common.merging(settings) { $1 }
        return try await start(
            in: TestDirectories().makeOwn(),
            binaries: binaries,
            workers: workers,
            hasNetwork: hasNetwork,
            settings: settings,
            logger: .silent
        )
    }
}
