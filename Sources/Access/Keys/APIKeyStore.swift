package import HTTPServer
package import Postgres
package import PushContract

/// The API keys in the database.
package struct APIKeyStore: Sendable {
    /// Why a key was not made.
    package enum Refusal: Error, Equatable, CustomStringConvertible {
        case unknownScope(String)
        case noScopes
        case invalidName
        case invalidQuota
        case invalidApp
        case expiresInThePast
        /// There is no key with this id, or it was revoked, or has expired: such a key is not replaced.
        case notActive(String)
        /// The key was replaced before, by this one.
        case replaced(by: String)

        package var description: String {
            switch self {
            case .unknownScope(let scope):
                "there is no scope \(scope); there are \(Scope.grantable.map(\.rawValue).joined(separator: ", "))"
            case .noScopes: "a key without scopes can do nothing; name at least one"
            case .invalidName: "the name of a key must have 1 to 100 characters"
            case .invalidQuota: "the quota is a number of requests a minute, from 1 to \(Int32.max)"
            case .invalidApp: "the name of an app must have 1 to 200 characters"
            case .expiresInThePast: "a key expires in the future, or never"
            case .notActive(let id): "no active key has the id `\(id)`; `pushwatch keys list` lists them"
            case .replaced(let id): "this key was replaced by the key `\(id)`; rotate that one"
            }
        }
    }

    let session: any PostgresSession

    package init(_ session: any PostgresSession) { self.session = session }

    /// Makes a key. The text in the answer is the only copy of its secret there will ever be.
    package func create(
        name: String,
        scopes: Set<Scope>,
        quotaPerMinute: Int? = nil,
        apps: KeyApps = .all,
        expiresAt: Timestamp? = nil,
        createdBy: String,
        now: Timestamp
    ) async throws -> (key: APIKey, text: APIKeyText) {
        try Self.check(name: name, scopes: scopes, quotaPerMinute: quotaPerMinute)
        try Self.check(apps: apps, expiresAt: expiresAt, now: now)
        let text = APIKeyText.generate()
        let sorted = scopes.map(\.rawValue).sorted()
        try await session.execute(
            """
            INSERT INTO apiKeys (id, name, keyHash, scopes, quotaPerMinute, createdAt, createdBy, apps, expiresAt)
            VALUES (\(text.id), \(name), \(text.hash), \(sorted), \(quotaPerMinute.map(Int32.init)), \(now), \(createdBy),
                nullif(\(apps.names ?? []), '{}'), \(expiresAt))
            """
        )
        let key = APIKey(
            id: text.id,
            name: name,
            scopes: scopes,
            quotaPerMinute: quotaPerMinute,
            createdAt: now,
            createdBy: createdBy,
            apps: apps,
            expiresAt: expiresAt
        )
        return (key, text)
    }

    /// All keys, newest first, expired and revoked ones too.
    package func list() async throws -> [APIKey] {
        try await session.query("SELECT \(raw: Self.columns) FROM apiKeys ORDER BY createdAt DESC, id").map { try Self.key($0).key }
    }

    /// The stored keys that sessions act with.
    package func sessionKeyIds(now: Timestamp) async throws -> Set<String> {
        Set(try await list().filter { $0.hasSessions(at: now) }.map(\.id))
    }

    /// Revokes a key; servers stop accepting it within 30 s. The key as it is now; nil when there is no such key, or it was revoked before.
    @discardableResult
    package func revoke(id: String, now: Timestamp) async throws -> APIKey? {
        try await session.query(
            "UPDATE apiKeys SET revokedAt = \(now) WHERE id = \(id) AND revokedAt IS NULL RETURNING \(raw: Self.columns)"
        ).first.map { try Self.key($0).key }
    }

    /// The key with this id, expired, revoked or not.
    package func find(id: String) async throws -> APIKey? {
        try await row(id: id)?.key
    }

    /// The key that this text opens; nil when there is none, the secret is wrong, or it is revoked. Whether it has
    /// expired is for the caller to see.
    package func find(_ text: APIKeyText) async throws -> APIKey? {
        guard let (key, hash) = try await row(id: text.id), Secrets.areEqual(hash, text.hash), key.revokedAt == nil else { return nil }
        return key
    }

    /// Notes that a key was used; at most one write a minute for a key.
    package func touch(id: String, now: Timestamp) async throws {
        try await session.execute(
            "UPDATE apiKeys SET lastUsedAt = \(now) WHERE id = \(id) AND (lastUsedAt IS NULL OR lastUsedAt < \(now - .seconds(60)))"
        )
    }

    private static let columns =
        "id, name, scopes, quotaPerMinute, createdAt, createdBy, apps, expiresAt, replaces, lastUsedAt, revokedAt, keyHash"

    private func row(id: String) async throws -> (key: APIKey, hash: [UInt8])? {
        try await session.query("SELECT \(raw: Self.columns) FROM apiKeys WHERE id = \(id)").first.map(Self.key)
    }

    private static func key(_ row: Row) throws -> (key: APIKey, hash: [UInt8]) {
        let (id, name, scopes, quota, createdAt, createdBy, apps, expiresAt, replaces, lastUsedAt, revokedAt, hash) = try row.decode(
            (
                String, String, [String], Int?, Timestamp, String, [String]?, Timestamp?, String?, Timestamp?, Timestamp?, [UInt8]
            ).self
        )
        let key = APIKey(
            id: id,
            name: name,
            scopes: Set(scopes.map(Scope.init(rawValue:))),
            quotaPerMinute: quota,
            createdAt: createdAt,
            createdBy: createdBy,
            apps: KeyApps(apps),
            expiresAt: expiresAt,
            replaces: replaces,
            lastUsedAt: lastUsedAt,
            revokedAt: revokedAt
        )
        return (key, hash)
    }

    static func check(name: String, scopes: Set<Scope>, quotaPerMinute: Int?) throws(Refusal) {
        guard (1...100).contains(name.unicodeScalars.count) else { throw .invalidName }
        guard !scopes.isEmpty else { throw .noScopes }
        if let unknown = scopes.map(\.rawValue).sorted().first(where: { !Scope(rawValue: $0).isKnown }) { throw .unknownScope(unknown) }
        if let quotaPerMinute, !(1...Int(Int32.max)).contains(quotaPerMinute) { throw .invalidQuota }
    }

    static func check(apps: KeyApps, expiresAt: Timestamp?, now: Timestamp) throws(Refusal) {
        if let names = apps.names {
            guard !names.isEmpty, names.allSatisfy({ (1...200).contains($0.unicodeScalars.count) }) else { throw .invalidApp }
        }
        if let expiresAt, expiresAt <= now { throw .expiresInThePast }
    }
}
