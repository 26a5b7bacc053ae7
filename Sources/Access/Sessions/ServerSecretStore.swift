package import Postgres

/// Random values that all servers of one database share.
package struct ServerSecretStore: Sendable {
    private let session: any PostgresSession

    package init(_ session: any PostgresSession) { self.session = session }

    /// The secret of this name: 32 random bytes, made on first use.
    package func secret(named name: String) async throws -> [UInt8] {
        try await session.execute(
            "INSERT INTO serverSecrets (name, value) VALUES (\(name), \(Secrets.random(32))) ON CONFLICT (name) DO NOTHING"
        )
        let rows = try await session.query("SELECT value FROM serverSecrets WHERE name = \(name)")
        guard let row = rows.first else { throw PostgresError(.decoding, "the server secret just stored is gone") }
        return try row.decode([UInt8].self)
    }
}
