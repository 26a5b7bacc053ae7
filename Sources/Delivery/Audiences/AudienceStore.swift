package import Audit
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

        fileprivate var action: AuditAction {
            switch self {
            case .replace: .replaceAudience
            case .add: .addToAudience
            case .remove: .removeFromAudience
            }
        }
    }

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    package func list() async throws -> [Audience] {
        try await pool.query(AudienceStore.select("ORDER BY a.audienceId")).map(Audience.init)
    }

    package func find(_ id: String) async throws -> Audience? {
        try await pool.query(AudienceStore.select("WHERE a.audienceId = \(id)")).first.map(Audience.init)
    }

    /// Changes the members, with an entry in the audit; an audience that is not there yet is made, except by removing. Throws 409 if
    /// members would be lost to which a send is still being stored.
    package func change(_ change: Change, _ id: String, uids: [String], recording audit: AuditRecorder) async throws -> Audience? {
        // How many were named; who they are is in the audience alone.
        let detail = "\(uids.count) uids"
        let uids = Set(uids.map { ExactText($0) }).sorted().map(\.text)
        return try await pool.performTransaction { connection in
            let isMade = try change != .remove && AudienceStore.make(id, author: audit.actor.name, on: connection)
            guard let found = try AudienceStore.lock(id, on: connection) else { return nil }
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
            try connection.execute("UPDATE audiences SET changedAt = clock_timestamp() WHERE audienceId = \(id)")
            let after = try Audience(try connection.query(AudienceStore.select("WHERE a.audienceId = \(id)"))[0])
            try audit.note(
                change.action,
                id,
                detail,
                before: isMade ? nil : AudienceDocument(found),
                after: AudienceDocument(after),
                on: connection
            )
            return after
        }
    }

    /// Deletes an audience, with an entry in the audit; false when there is none. Sends that were made from it are not touched; throws 409
    /// if one is still being stored.
    package func delete(_ id: String, recording audit: AuditRecorder) async throws -> Bool {
        try await pool.performTransaction { connection in
            guard let found = try AudienceStore.lock(id, on: connection) else { return false }
            try AudienceStore.requireStored(id, on: connection)
            try connection.execute("DELETE FROM audiences WHERE audienceId = \(id)")
            try connection.execute("DELETE FROM audienceMembers WHERE audienceId = \(id)")
            try audit.note(.deleteAudience, id, before: AudienceDocument(found), on: connection)
            return true
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

    /// Makes an audience without members; false when it is there. Its row is locked in both cases, so that nobody deletes it meanwhile.
    private static func make(_ id: String, author: String, on connection: BlockingConnection) throws -> Bool {
        // Only a row that this statement has inserted has no xmax: one that it locked has this transaction's.
        try connection.query(
            """
            INSERT INTO audiences AS a (audienceId, author, createdAt, changedAt)
            VALUES (\(id), \(author), clock_timestamp(), clock_timestamp())
            ON CONFLICT (audienceId) DO UPDATE SET changedAt = a.changedAt RETURNING xmax = 0
            """
        )[0].decode(Bool.self)
    }

    /// The audience, with its row locked: read after the lock, as its members may change while that is waited for.
    private static func lock(_ id: String, on connection: BlockingConnection) throws -> Audience? {
        _ = try connection.query("SELECT FROM audiences WHERE audienceId = \(id) FOR UPDATE")
        return try connection.query(select("WHERE a.audienceId = \(id)")).first.map(Audience.init)
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
