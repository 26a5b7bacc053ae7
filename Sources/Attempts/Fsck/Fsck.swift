package import Postgres
package import PushContract

/// Checks the invariants of what is stored, on a live system, without hurting it.
package struct Fsck: Sendable {
    package struct Progress: Sendable {
        package var check: String
        package var done: Int
        package var total: Int
    }

    /// The checks of attempts.
    package static let attempts: [any FsckCheck] = [
        PartitionsCheck(), LedgerCheck(), IdentityCheck(), RollupsCheck(), TokensCheck(), AnalystRightsCheck(),
    ]

    private let checks: [any FsckCheck]
    private let pool: PostgresPool
    private let plan: PartitionPlan
    private let pause: Duration
    private let now: Timestamp
    private let days: Int64

    /// - Parameters:
    ///   - days: how far back attempts are checked, by `attemptedAt`. The ledger is always checked as a whole.
    ///   - pause: before what looks wrong is looked at again.
    package init(
        _ checks: [any FsckCheck] = Fsck.attempts,
        pool: PostgresPool,
        plan: PartitionPlan = PartitionPlan(),
        days: Int64 = 16,
        pause: Duration = .seconds(1),
        now: Timestamp
    ) {
        self.checks = checks
        self.pool = pool
        self.plan = plan
        self.pause = pause
        self.now = now
        self.days = days
    }

    package func run(onProgress: @escaping @Sendable (Progress) -> Void = { _ in }) async throws -> FsckReport {
        var lines: [FsckReport.Line] = []
        for check in checks {
            let name = check.name
            let context = FsckContext(
                pool: pool,
                now: now,
                days: days,
                plan: plan,
                pause: pause,
                onProgress: { onProgress(Progress(check: name, done: $0, total: $1)) }
            )
            lines += try await check.run(context)
        }
        return FsckReport(lines: lines)
    }
}
