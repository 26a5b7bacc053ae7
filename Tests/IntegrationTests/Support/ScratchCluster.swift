import Foundation
import LocalPostgres
import PushContract
import TestDatabase

/// A durable PostgreSQL of a test's own, which it may stop, crash and start again at the same port.
final class ScratchCluster {
    let directory: String
    private var running: LocalPostgres?
    private(set) var url = ""
    private var port: Int?

    init(in directory: String) { self.directory = directory + "/postgres" }

    func start() async throws {
        let configuration = LocalPostgresConfiguration(
            directory: directory,
            durable: true,
            port: port,
            settings: ["shared_buffers": "32MB"]
        )
        let cluster = try await LocalPostgres.start(configuration, logger: .silent)
        running = cluster
        port = cluster.port
        url = cluster.tcpURL
    }

    /// As when the machine loses power: nothing is written any more.
    func crash() {
        running?.stopBlocking(.immediate)
        running = nil
    }
}

func withScratchCluster<Value>(_ body: (ScratchCluster) async throws -> Value) async throws -> Value {
    try await withTestDirectory { directory in
        let cluster = ScratchCluster(in: directory)
        defer { cluster.crash() }
        try await cluster.start()
        return try await body(cluster)
    }
}
