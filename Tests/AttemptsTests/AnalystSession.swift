import Foundation
import Postgres
import PushContract
import TestDatabase

@testable import Attempts

/// A database and a way to come in as an analyst.
struct AnalystDatabase: Sendable {
    let attempts: AttemptDatabase
    let url: String

    var pool: PostgresPool { attempts.pool }

    /// A connection of the role itself, with the role's own limits in force.
    func connect(as user: String = "pushwatch_analyst") async throws -> PostgresConnection {
        // The role's settings stand behind what a connection asks for, and ours ask for a timeout; an analyst's do not.
        let settings = "options=-c%20statement_timeout%3D60s%20-c%20idle_in_transaction_session_timeout%3D30s"
        let joined = url + (url.contains("?") ? "&" : "?") + "user=\(user)&\(settings)"
        return try await PostgresConnection.connect(PostgresConfiguration(url: joined, applicationName: "analyst"))
    }
}

func withAnalysts(days: Int64 = 2, _ body: (AnalystDatabase) async throws -> Void) async throws {
    try await withDatabaseURL { url in
        let pool = PostgresPool(configuration: PostgresConfiguration(url: url, maxConnections: 6), logger: .silent)
        defer { pool.close() }
        let maintenance = PartitionMaintenance(pool: pool, clockTolerance: nil, logger: .silent, now: { Sample.now })
        try await maintenance.ensurePartitions(forDays: Set(Sample.now.day - days...Sample.now.day + 1))
        try await body(AnalystDatabase(attempts: AttemptDatabase(pool: pool, maintenance: maintenance), url: url))
    }
}
