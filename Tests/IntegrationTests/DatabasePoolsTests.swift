import Delivery
import Postgres
import TestDatabase
import Testing

@testable import Server

@Suite("Connections by class")
struct DatabasePoolsTests {
    @Test("all classes together have no more connections than are configured, and that of callers as many as its users need")
    func sizes() throws {
        for total in [DatabasePools.Sizes.least, DatabasePools.Sizes.usual, 100, 500] {
            let pools = DatabasePools(url: "postgresql://nobody@127.0.0.1:1/none", total: total, logger: .silent)
            let sizes = pools.all.map(\.configuration.maxConnections)
            #expect(sizes.reduce(0, +) <= total && sizes.allSatisfy { $0 > 0 }, "\(sizes)")
            #expect(pools.ingest.configuration.maxConnections >= EnqueueService.leastConnections)
        }
        #expect(DatabasePools.Sizes(total: DatabasePools.Sizes.usual).alerting == 4)
    }

    @Test("sessions of queues and tokens make no plans that read whole tables; those of alerts and readers may")
    func plans() async throws {
        try await withDatabaseURL { url in
            let pools = DatabasePools(url: url, total: DatabasePools.Sizes.least, logger: .silent)
            defer { for pool in pools.all { pool.close() } }
            for (pool, expected) in [
                (pools.ingest, "off"), (pools.sending, "off"), (pools.live, "off"), (pools.alerting, "on"), (pools.readers, "on"),
                (pools.history, "on"),
            ] {
                let setting = try await pool.query("SHOW enable_seqscan")[0].decode(String.self)
                #expect(setting == expected)
            }
        }
    }

    @Test("a session that is silent inside a transaction is ended after five seconds, and its locks with it: its instance may be stopped")
    func silent() async throws {
        try await withDatabaseURL { url in
            let pools = DatabasePools(url: url, total: DatabasePools.Sizes.least, logger: .silent)
            let admin = DatabasePools.admin(PostgresConfiguration(url: url), logger: .silent)
            defer { for pool in pools.all + [admin] { pool.close() } }
            for pool in pools.all + [admin] {
                let setting = try await pool.query("SHOW idle_in_transaction_session_timeout")[0].decode(String.self)
                #expect(setting == "5s")
            }
        }
    }
}
