package import Audit
package import HTTPServer
package import Postgres
import PushContract

/// The limiters in PostgreSQL, and the two ways to close one. Safe to use from any task.
package struct DeactivationLimiterStore: Sendable {
    /// After a release the same place does not open again for so long: the rest of the dead tokens goes without another question.
    package static let cooldown = Duration.seconds(86_400)

    /// What a person decides of the tokens that a limiter deferred.
    package enum Decision: Sendable {
        /// The refusals were right: the deferred tokens are deactivated, and no limiter opens there for a day.
        case confirm
        /// They were not: every token that was deferred or deactivated since shortly before it opened is as it was. A device that
        /// registered since, or whose token is another's now, is left as it is.
        case undo
    }

    private let pool: PostgresPool

    package init(pool: PostgresPool) { self.pool = pool }

    /// Those that are open, oldest first.
    package func open() async throws -> [DeactivationLimiter] {
        try await pool.query("\(DeactivationLimiterStore.select) WHERE b.closedAt IS NULL ORDER BY b.limiterId")
            .map(DeactivationLimiter.init)
    }

    /// Closes a limiter, with an entry in the audit: how many tokens that changed; nil when no such limiter is open. Throws 403 when its
    /// app is none of `apps`.
    package func close(_ id: Int64, _ decision: Decision, apps: KeyApps = .all, recording audit: AuditRecorder) async throws -> Int? {
        try await pool.performTransaction { connection in
            let open = try connection.query(
                "\(DeactivationLimiterStore.select) WHERE b.limiterId = \(id) AND b.closedAt IS NULL FOR UPDATE OF b"
            )
            guard let limiter = try open.first.map(DeactivationLimiter.init) else { return nil }
            try apps.require(limiter.scope.app)
            let (action, changed) =
                switch decision {
                case .confirm: (AuditAction.confirmDeactivations, try confirm(id, by: audit.actor.name, on: connection))
                case .undo: (AuditAction.undoDeactivations, try undo(id, by: audit.actor.name, on: connection))
                }
            try audit.note(
                action,
                "limiter \(id)",
                "\(changed) tokens",
                before: DeactivationLimiterDocument(limiter),
                after: ["tokens": changed],
                on: connection
            )
            return changed
        }
    }

    private static let select: Query = """
        SELECT b.limiterId, b.provider, b.app, b.environment, b.credential, b.openedAt, b.total, b.ambiguous, b.gone, b.cause,
            (SELECT count(*) FROM tokenDeactivations t WHERE t.limiterId = b.limiterId AND t.undoneAt IS NULL),
            (SELECT count(*) FROM tokenDeactivations t WHERE t.provider = b.provider AND t.app = b.app
                AND t.environment = b.environment AND t.credential = b.credential AND t.deactivatedAt >= b.windowFrom
                AND t.state = 'inactive' AND t.undoneAt IS NULL)
        FROM deactivationLimiters b
        """

    private func confirm(_ id: Int64, by name: String, on connection: BlockingConnection) throws -> Int {
        try close(id, as: "confirmed", by: name, on: connection)
        return try connection.execute(
            """
            WITH due AS (
                SELECT DISTINCT ON (t.userId, t.deviceId) t.deactivationId, t.userId, t.deviceId, t.tokenHash, t.registrationVersion,
                    t.cause
                FROM tokenDeactivations t WHERE t.limiterId = \(id) AND t.verdict = 'inactive' AND t.undoneAt IS NULL
                ORDER BY t.userId, t.deviceId, t.deactivationId DESC
            ), applied AS (
                UPDATE devices d SET tokenState = 'inactive', tokenStateCause = due.cause, tokenStateSince = clock_timestamp()
                FROM due
                WHERE d.userId = due.userId AND d.deviceId = due.deviceId AND d.registrationVersion = due.registrationVersion
                  AND d.pushTokenHash = due.tokenHash AND d.tokenState = 'suspect'
                RETURNING due.deactivationId
            )
            UPDATE tokenDeactivations t SET state = 'inactive' FROM applied WHERE t.deactivationId = applied.deactivationId
            """
        )
    }

    private func undo(_ id: Int64, by name: String, on connection: BlockingConnection) throws -> Int {
        try close(id, as: "undone", by: name, on: connection)
        return try DeactivationLimiterStore.reactivate(
            """
            SELECT t.deactivationId, t.userId, t.deviceId, t.tokenHash, t.registrationVersion
            FROM deactivationLimiters b JOIN tokenDeactivations t ON t.provider = b.provider AND t.app = b.app
                AND t.environment = b.environment AND t.credential = b.credential AND t.deactivatedAt >= b.windowFrom
            WHERE b.limiterId = \(id) AND t.undoneAt IS NULL
            """,
            by: name,
            on: connection
        )
    }

    /// Undoes one deactivation. False when there is none, it is undone already, or the device has moved on.
    package func undo(deactivation id: Int64, by name: String) async throws -> Bool {
        try await pool.performTransaction { connection in
            try DeactivationLimiterStore.reactivate(
                """
                SELECT deactivationId, userId, deviceId, tokenHash, registrationVersion FROM tokenDeactivations
                WHERE deactivationId = \(id) AND undoneAt IS NULL
                """,
                by: name,
                on: connection
            ) == 1
        }
    }

    /// - Parameter due: the deactivations to undo.
    private static func reactivate(_ due: Query, by name: String, on connection: BlockingConnection) throws -> Int {
        try connection.query(
            """
            WITH due AS MATERIALIZED (\(due)
            ), reactivated AS (
                UPDATE devices d SET tokenState = 'active', tokenStateCause = NULL, tokenStateSince = clock_timestamp()
                FROM (SELECT DISTINCT userId, deviceId, tokenHash, registrationVersion FROM due) t
                WHERE d.userId = t.userId AND d.deviceId = t.deviceId AND d.registrationVersion = t.registrationVersion
                  AND d.pushTokenHash = t.tokenHash AND d.tokenState <> 'active' AND d.pushToken IS NOT NULL
                  AND NOT EXISTS (SELECT FROM devices o WHERE o.pushTokenHash = d.pushTokenHash AND o.provider = d.provider
                      AND o.app = d.app AND o.tokenState <> 'inactive' AND (o.userId, o.deviceId) <> (d.userId, d.deviceId))
                RETURNING 1
            ), revived AS (
                DELETE FROM deadTokens x USING due WHERE x.tokenHash = due.tokenHash
            ), marked AS (
                UPDATE tokenDeactivations t SET undoneAt = clock_timestamp(), undoneBy = \(name)
                FROM due WHERE t.deactivationId = due.deactivationId
            )
            SELECT count(*) FROM reactivated
            """
        )[0].decode(Int.self)
    }

    /// Removes what no decision looks at any more.
    package func forget() async throws {
        try await pool.execute("DELETE FROM tokenOutcomes WHERE minute < clock_timestamp() - interval '1 day'")
        try await pool.execute("DELETE FROM tokenDeactivations WHERE deactivatedAt < clock_timestamp() - interval '180 days'")
        try await pool.execute("DELETE FROM deadTokens WHERE since < clock_timestamp() - interval '180 days'")
    }

    private func close(_ id: Int64, as resolution: String, by name: String, on connection: BlockingConnection) throws {
        let cooldown = resolution == "confirmed" ? DeactivationLimiterStore.cooldown.inSeconds : 0
        try connection.execute(
            """
            UPDATE deactivationLimiters SET closedAt = clock_timestamp(), closedBy = \(name), resolution = \(resolution),
                cooldownUntil = clock_timestamp() + \(cooldown) * interval '1 second'
            WHERE limiterId = \(id)
            """
        )
        // What was counted has been judged; the window begins anew.
        try connection.execute(
            """
            DELETE FROM tokenOutcomes o USING deactivationLimiters b
            WHERE b.limiterId = \(id) AND o.provider = b.provider AND o.app = b.app AND o.environment = b.environment
              AND o.credential = b.credential
            """
        )
    }
}

extension DeactivationLimiter {
    init(_ row: Row) throws {
        let values = try row.decode((Int64, String, String, String, String, Timestamp, Int64, Int64, Int64, String, Int64, Int64).self)
        self.init(
            id: values.0,
            scope: CredentialScope(
                provider: try stored(values.1),
                app: values.2,
                environment: try stored(values.3),
                credential: values.4
            ),
            openedAt: values.5,
            counts: .init(total: values.6, ambiguous: values.7, gone: values.8),
            cause: values.9,
            deferred: values.10,
            deactivated: values.11
        )
    }
}
