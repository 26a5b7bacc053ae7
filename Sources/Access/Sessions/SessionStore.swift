package import Postgres
package import PushContract

/// The table of sessions. Nothing of it is cached, so that a session ends at every instance when it ends.
package struct SessionStore: Sendable {
    /// How long an ended session stays in the list.
    static let kept = Duration.seconds(30 * 86_400)

    private let session: any PostgresSession

    package init(_ session: any PostgresSession) { self.session = session }

    func insert(_ opened: Session, secret: String) async throws {
        try await session.execute("DELETE FROM sessions WHERE lastUsedAt < \(opened.createdAt - Self.kept)")
        try await session.execute(
            """
            INSERT INTO sessions (sessionId, secretHash, keyId, bootstrapProof, person, createdAt, lastUsedAt)
            VALUES (\(opened.id), \(Secrets.sha256(secret)), \(opened.keyId), \(opened.bootstrapProof), \(opened.person), \(opened.createdAt),
                \(opened.lastUsedAt))
            """
        )
    }

    /// The session of this secret, open or not.
    func find(secret: String) async throws -> Session? {
        try await session.query("SELECT \(raw: Self.columns) FROM sessions WHERE secretHash = \(Secrets.sha256(secret))").first
            .map(Self.session)
    }

    /// Notes that a session was used.
    func touch(id: String, now: Timestamp) async throws {
        try await session.execute("UPDATE sessions SET lastUsedAt = \(now) WHERE sessionId = \(id) AND lastUsedAt < \(now)")
    }

    /// Those that were used in the last 30 days, newest first.
    package func list() async throws -> [Session] {
        try await session.query("SELECT \(raw: Self.columns) FROM sessions ORDER BY createdAt DESC, sessionId").map(Self.session)
    }

    /// Ends a session at once. Nil when there is none with this id, or it was ended before.
    package func end(id: String, by: String, now: Timestamp) async throws -> Session? {
        try await session.query(
            """
            UPDATE sessions SET endedAt = \(now), endedBy = \(by) WHERE sessionId = \(id) AND endedAt IS NULL
            RETURNING \(raw: Self.columns)
            """
        ).first.map(Self.session)
    }

    /// Ends all that were opened with this key; nil for those of every key. How many there were.
    package func endAll(keyId: String?, by: String, now: Timestamp) async throws -> Int {
        try await session.execute(
            """
            UPDATE sessions SET endedAt = \(now), endedBy = \(by)
            WHERE endedAt IS NULL AND (\(keyId)::text IS NULL OR keyId = \(keyId))
            """
        )
    }

    private static let columns = "sessionId, keyId, person, createdAt, lastUsedAt, endedAt, endedBy, bootstrapProof"

    private static func session(_ row: Row) throws -> Session {
        let (id, keyId, person, createdAt, lastUsedAt, endedAt, endedBy, bootstrapProof) = try row.decode(
            (String, String, String, Timestamp, Timestamp, Timestamp?, String?, [UInt8]?).self
        )
        return Session(
            id: id,
            keyId: keyId,
            person: person,
            createdAt: createdAt,
            lastUsedAt: lastUsedAt,
            endedAt: endedAt,
            endedBy: endedBy,
            bootstrapProof: bootstrapProof
        )
    }
}
