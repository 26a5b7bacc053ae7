package import Logging
package import Postgres
import ServiceKit
import ServiceLifecycle

/// Enforces the limits of analysts: cancels and ends sessions that run too long, delay cleanup, or block others.
///
/// The role has settings with these limits, but a user can change them. Any number of watchdogs may run; ending a session twice
/// does nothing. Needs `pg_read_all_stats` and `pg_signal_backend` when its user is not a superuser; without them it warns once and
/// continues. On a replica nothing of this is needed: `max_standby_streaming_delay` ends what is in the way.
package struct AnalystWatchdog: Service {
    private let pool: PostgresPool
    private let policy: AnalystPolicy
    private let interval: Duration
    private let logger: Logger

    package init(pool: PostgresPool, policy: AnalystPolicy = AnalystPolicy(), interval: Duration = .seconds(5), logger: Logger) {
        self.pool = pool
        self.policy = policy
        self.interval = interval
        self.logger = logger
    }

    /// What one round did.
    package struct Round: Sendable, Equatable {
        package var cancelled = 0
        package var terminated = 0
        /// Sessions that could not be looked at or ended for want of rights.
        var outOfReach = 0
    }

    package func run() async throws {
        let service = PeriodicService("analyst watchdog", every: interval, logger: logger, failureLevel: .error, state: Bool?.none) {
            hasWarned in
            if hasWarned == nil { hasWarned = await warnedThatRoleIsMissing() }
            let round = try await look()
            if round.outOfReach > 0, hasWarned == false {
                hasWarned = true
                logger.warning(
                    "analysts' sessions cannot be read or ended: GRANT pg_read_all_stats, pg_signal_backend to the database user"
                )
            }
        }
        try await service.run()
    }

    /// The migration's own warning is in the database server's log only.
    private func warnedThatRoleIsMissing() async -> Bool {
        guard let rows = try? await pool.query("SELECT to_regrole('pushwatch_analyst') IS NULL"), (try? rows[0].decode(Bool.self)) == true
        else { return false }
        logger.notice("there is no role pushwatch_analyst; to let analysts in, make it as sql/README.md says")
        return true
    }

    /// One look at all sessions, with its consequences.
    package func look() async throws -> Round {
        let listing = try await AnalystSessionStatements.list(on: pool)
        var round = Round(outOfReach: listing.hidden)
        for session in listing.sessions {
            do {
                try await enforce(policy.verdict(on: session), on: session, &round)
            } catch let error as PostgresError where error.code == .insufficientPrivilege {
                round.outOfReach += 1
            }
        }
        return round
    }

    private func enforce(_ verdict: AnalystPolicy.Verdict, on session: AnalystSession, _ round: inout Round) async throws {
        switch verdict {
        case .leave:
            return
        case .cancel(let cause):
            guard try await AnalystSessionStatements.cancel(session, on: pool) else { return }
            round.cancelled += 1
            logger.notice("analyst's statement cancelled", metadata: session.metadata.merging(["cause": "\(cause.rawValue)"]) { $1 })
        case .terminate(let cause):
            guard try await AnalystSessionStatements.terminate(session, on: pool) else { return }
            round.terminated += 1
            logger.notice("analyst's session ended", metadata: session.metadata.merging(["cause": "\(cause.rawValue)"]) { $1 })
        }
    }
}

extension PostgresError.Code {
    fileprivate static let insufficientPrivilege = PostgresError.Code(rawValue: "42501")
}

extension AnalystSession {
    fileprivate var metadata: Logger.Metadata {
        [
            "user": "\(user)", "pid": "\(pid)", "statementSeconds": "\(statementAge.components.seconds)",
            "transactionSeconds": "\(transactionAge.components.seconds)", "xminAge": "\(xminAge)",
        ]
    }
}
