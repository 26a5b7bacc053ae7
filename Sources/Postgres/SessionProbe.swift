import ServiceKit

/// Whether a database address leads to sessions that stay a connection's own, or to a pooler that gives them to another client after each
/// transaction.
///
/// Two open connections never have the same session at PostgreSQL itself, and a connection never changes its. So what is asked is which
/// session a transaction runs in, while others are open. Nothing is left in any session.
package enum SessionProbe {
    package enum Finding: Sendable, Equatable {
        case own
        /// A session changed hands, or a connection its session.
        case shared
        /// The address takes connections, and not those with our settings; or it drops the settings.
        case settingsRefused
    }

    /// A process number may occur on each of several hosts, but not with the same start.
    private static let session: Query = "SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()"
    private static let rounds = 3

    package static func look(at configuration: PostgresConfiguration) async throws -> Finding {
        var plain = configuration
        plain.preparesStatements = false
        let first = try await PostgresConnection.connect(plain)
        let own = try await session(of: first)
        // Each stays open, so that a pooler has no other session left than the first one, or has to give the first connection another.
        var others: [PostgresConnection] = []
        defer { withExtendedLifetime(others) {} }
        for _ in 0..<rounds {
            let other = try await PostgresConnection.connect(plain)
            try await other.perform { try $0.beginTransaction() }
            others.append(other)
            if try await session(of: other) == own { return .shared }
            if try await session(of: first) != own { return .shared }
        }
        others = []
        return try await takesSettings(configuration, plain) ? .own : .settingsRefused
    }

    private static func session(of connection: PostgresConnection) async throws -> [String] {
        let (pid, start) = try await connection.query(session)[0].decode((Int32, String).self)
        return ["\(pid)", start]
    }

    private static func takesSettings(_ configuration: PostgresConfiguration, _ plain: PostgresConfiguration) async throws -> Bool {
        for _ in 1...2 {
            do {
                let level = try await PostgresConnection.connect(configuration).query("SELECT current_setting('client_min_messages')")
                return try level[0].decode(String.self) == "warning"
            } catch let error as PostgresError where error.isConnectionLoss {
                // The code does not say why a connection was refused. If one without settings is not, it was for the settings.
                _ = try await PostgresConnection.connect(plain)
            }
        }
        return false
    }
}
