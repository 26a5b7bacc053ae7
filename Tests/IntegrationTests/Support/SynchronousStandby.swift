import Foundation
import LocalPostgres
import Postgres
import TestSupport
import Testing

/// A primary, its synchronous standby, and a server that knows both.
struct SynchronousStandby {
    var primary: ScratchCluster
    var standby: LocalPostgres
    var server: ServerProcess

    static func with(_ body: (SynchronousStandby) async throws -> Void) async throws {
        try await withStandby { primary, standby in
            // Said only to this server, so that the other one does not wait for a standby when it is the primary.
            let admin = try await PostgresConnection.connect(PostgresConfiguration(url: primary.url))
            try await admin.executeScript("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try await admin.executeScript("SELECT pg_reload_conf()")
            try await eventually("the standby is synchronous") {
                try await admin.query("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")[0].decode(Int.self) == 1
            }
            let server = try await ServerProcess.start(database: primary.url(orElse: standby.port), arguments: ["--migrate"])
            try await server.waitUntilReady()
            try await body(SynchronousStandby(primary: primary, standby: standby, server: server))
            #expect(try await server.terminate().code == 0)
        }
    }

    func promote() async throws {
        try await withPool(standby.tcpURL) { pool in
            let isPromoted = try await pool.query("SELECT pg_promote(true, 60)")[0].decode(Bool.self)
            #expect(isPromoted)
        }
    }

    func expectNothingLost(_ fault: String, _ load: PostingLoad) async throws {
        try await withPool(standby.tcpURL) { pool in
            try await FaultReport(fault: fault, times: 1, load: load).expectNothingLost(on: pool)
        }
    }
}
