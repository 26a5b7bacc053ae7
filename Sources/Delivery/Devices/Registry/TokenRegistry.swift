import HTTPServer
package import Postgres
package import PushContract

/// What is known of a token by its hash, whatever way it came in: the view `tokenRegistry`. Runs in the caller's transaction.
///
/// A token has one kind: "These are two distinct tokens with different purposes" (seed 004). Every call that takes a token, and every
/// send to one, asks here.
package enum TokenRegistry {
    /// Transactions about one token take turns. Before any other `KeyLock`.
    package static func lock(_ hash: TokenHash) -> Query { KeyLock.take(.token, [hash.rawValue]) }

    /// Throws 422 when the token is registered as one of another kind, by anybody.
    package static func requireKind(
        _ kind: TokenKind,
        of hash: TokenHash,
        provider: Provider,
        app: String,
        pointer: String,
        on connection: BlockingConnection
    ) throws {
        let others = try connection.query(
            """
            SELECT kind FROM tokenRegistry
            WHERE tokenHash = \(hash.rawValue) AND provider = \(provider.rawValue) AND app = \(app) AND state <> 'inactive'
              AND kind <> \(kind.rawValue)
            LIMIT 1
            """
        )
        if let other = try others.first.map({ try stored($0.decode(String.self)) as TokenKind }) {
            throw TokenKindMismatch(found: other, expected: kind, pointer: pointer).problem
        }
    }

    /// What is known of tokens that sends name.
    struct NamedTokens {
        private struct Key: Hashable {
            var hash: String
            var provider: Provider
            @ExactText var app: String
        }

        /// Of those that are registered.
        private(set) var kinds: [String: TokenKind] = [:]
        private var dead: Set<Key> = []

        init(_ hashes: [String], on connection: BlockingConnection) throws {
            guard !hashes.isEmpty else { return }
            // Two conditions: the indexes of tokens in use have no inactive ones.
            let rows = try connection.query(
                """
                SELECT tokenHash, kind, provider, app FROM tokenRegistry WHERE tokenHash = ANY(\(hashes)) AND state <> 'inactive'
                UNION ALL
                SELECT tokenHash, NULL, provider, app FROM deadTokens WHERE tokenHash = ANY(\(hashes))
                """
            )
            var registered: Set<Key> = []
            for row in rows {
                let (hash, kind, provider, app) = try row.decode((String, String?, String, String).self)
                let key = Key(hash: hash, provider: try stored(provider), app: app)
                if let kind {
                    registered.insert(key)
                    if kinds[hash] == nil { kinds[hash] = try stored(kind) }
                } else {
                    dead.insert(key)
                }
            }
            dead.subtract(registered)
        }

        /// As in `dead(among:provider:app:)`.
        func isDead(_ hash: TokenHash, provider: Provider, app: String) -> Bool {
            dead.contains(Key(hash: hash.rawValue, provider: provider, app: app))
        }
    }

    /// Those of these tokens that are dead: a provider said so, and no app has registered it since.
    static func dead(among hashes: [String], provider: Provider, app: String) -> Query {
        """
        SELECT x.tokenHash FROM deadTokens x
        WHERE x.tokenHash = ANY(\(hashes)) AND x.provider = \(provider.rawValue) AND x.app = \(app) AND NOT EXISTS (
            SELECT FROM tokenRegistry r
            WHERE r.tokenHash = x.tokenHash AND r.provider = x.provider AND r.app = x.app AND r.state <> 'inactive')
        """
    }

    /// An app has registered it: whatever a provider said of it before is history.
    package static func revive(_ hash: TokenHash, on connection: BlockingConnection) throws {
        try connection.execute("DELETE FROM deadTokens WHERE tokenHash = \(hash.rawValue)")
    }

    /// Notes the tokens that providers call dead, unless an app has registered them since. The update token of an activity is still
    /// registered here: its owner ends the activity afterwards.
    static func noteDead(_ feedbackBatch: [TokenFeedback], on connection: BlockingConnection, now: Timestamp) throws {
        guard !feedbackBatch.isEmpty else { return }
        // In one order everywhere, and each once: two transactions must not wait for each other.
        var dead: [ExactText: TokenFeedback] = [:]
        for feedback in feedbackBatch {
            dead[ExactText("\(feedback.tokenHash.rawValue) \(feedback.provider.rawValue) \(feedback.app)")] = feedback
        }
        let ordered = dead.sorted { $0.key < $1.key }.map(\.value)
        try connection.execute(
            """
            INSERT INTO deadTokens AS t (tokenHash, provider, app, cause, since)
            SELECT s.hash, s.provider::pushProvider, s.app, s.cause, \(now)
            FROM unnest(\(ordered.map(\.tokenHash.rawValue)), \(ordered.map(\.provider.rawValue)), \(ordered.map(\.app)),
                \(ordered.map(\.cause))) AS s(hash, provider, app, cause)
            WHERE NOT EXISTS (
                SELECT FROM tokenRegistry r
                WHERE r.tokenHash = s.hash AND r.provider = s.provider::pushProvider AND r.app = s.app AND r.state <> 'inactive'
                  AND r.kind <> 'update')
            ON CONFLICT (tokenHash, provider, app) DO UPDATE SET cause = excluded.cause, since = excluded.since
            """
        )
    }
}
