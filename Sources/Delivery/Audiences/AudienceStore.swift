import HTTPServer
package import Postgres
import PushContract

/// The audiences in PostgreSQL. Each change is one transaction; changes of one audience take turns. Safe to use from any task.
package struct AudienceStore: Sendable {
    package enum Change: Sendable {
        /// These are the members, and nobody else.
        case replace
        case add
        case remove
    }

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    package func list() async throws -> [Audience] {
        try await pool.query(AudienceStore.select("ORDER BY a.audienceId")).map(Audience.init)
    }

    package func find(_ id: String) async throws -> Audience? {
        try await pool.query(AudienceStore.select("WHERE a.audienceId = \(id)")).first.map(Audience.init)
    }

    /// Changes the members; an audience that is not there yet is made, except by removing. Throws 409 if members would be lost to which a send is
    /// still being stored.
    package func change(_ change: Change, _ id: String, uids: [String], author: String) async throws -> Audience? {
        let uids = Set(uids).sorted()
        return try await pool.performTransaction { connection in
            guard try AudienceStore.touch(id, creates: change != .remove, author: author, on: connection) else { return nil }
            if change != .add { try AudienceStore.requireStored(id, on: connection) }
            if change == .replace {
                try connection.execute("DELETE FROM audienceMembers WHERE audienceId = \(id) AND NOT uid = ANY(\(uids))")
            }
            if change == .remove {
                try connection.execute("DELETE FROM audienceMembers WHERE audienceId = \(id) AND uid = ANY(\(uids))")
            } else {
                try connection.execute(
                    "INSERT INTO audienceMembers (audienceId, uid) SELECT \(id), uid FROM unnest(\(uids)) AS t(uid) ON CONFLICT DO NOTHING"
                )
            }
            return try connection.query(AudienceStore.select("WHERE a.audienceId = \(id)")).first.map(Audience.init)
        }
    }

    /// False when there is no such audience. Sends that were made from it are not touched; throws 409 if one is still being stored.
    package func delete(_ id: String) async throws -> Bool {
        try await pool.performTransaction { connection in
            guard try AudienceStore.touch(id, creates: false, author: "", on: connection) else { return false }
            try AudienceStore.requireStored(id, on: connection)
            let gone = try connection.execute("DELETE FROM audiences WHERE audienceId = \(id)")
            try connection.execute("DELETE FROM audienceMembers WHERE audienceId = \(id)")
            return gone == 1
        }
    }

    private static func requireStored(_ id: String, on connection: BlockingConnection) throws {
        guard let sendId = try FanOutQueries.isBeingSentTo(id, on: connection) else { return }
        throw Problem.conflict(
            """
            The send \(sendId) to this audience is still being stored (GET /sends/\(sendId)). Repeat the request when it is, or use another \
            audience.
            """,
            code: "audience_in_use"
        )
    }

    /// Locks the audience's row, and makes it where that is wanted.
    private static func touch(_ id: String, creates: Bool, author: String, on connection: BlockingConnection) throws -> Bool {
        if creates {
            try connection.execute(
                """
                INSERT INTO audiences (audienceId, author, createdAt, changedAt) VALUES (\(id), \(author), clock_timestamp(), clock_timestamp())
                ON CONFLICT (audienceId) DO UPDATE SET changedAt = excluded.changedAt
                """
            )
            return true
        }
        return try connection.execute("UPDATE audiences SET changedAt = clock_timestamp() WHERE audienceId = \(id)") == 1
    }

    private static func select(_ rest: Query) -> Query {
        """
        SELECT a.audienceId, a.author, (SELECT count(*) FROM audienceMembers m WHERE m.audienceId = a.audienceId), a.createdAt, a.changedAt
        FROM audiences a \(rest)
        """
    }
}

extension Audience {
    init(_ row: Row) throws {
        let (id, author, members, createdAt, changedAt) = try row.decode((String, String, Int, Timestamp, Timestamp).self)
        self.init(id: id, author: author, members: members, createdAt: createdAt, changedAt: changedAt)
    }
}
