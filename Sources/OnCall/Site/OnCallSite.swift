package import Access
package import Alerting
package import Delivery
package import Postgres
package import PushContract

/// What the pages are made from. Each page makes its own store of it.
package struct OnCallSite: Sendable {
    let pool: PostgresPool
    let rules: RuleRegistry
    let receivers: ReceiverRegistry?
    let backtests: BacktestCache
    let sends: SendStore
    let throttles: ThrottleStore
    let credentials: CredentialChecker
    let runbooks: RunbookDirectory
    let sessions: Sessions
    let clock: @Sendable () -> Timestamp

    package init(
        pool: PostgresPool,
        rules: RuleRegistry,
        receivers: ReceiverRegistry? = nil,
        backtests: BacktestCache,
        sends: SendStore,
        throttles: ThrottleStore,
        credentials: CredentialChecker,
        runbooks: RunbookDirectory,
        sessions: Sessions,
        clock: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) {
        self.pool = pool
        self.rules = rules
        self.receivers = receivers
        self.backtests = backtests
        self.sends = sends
        self.throttles = throttles
        self.credentials = credentials
        self.runbooks = runbooks
        self.sessions = sessions
        self.clock = clock
    }

    var actions: OnCallActions { OnCallActions(pool: pool, sends: sends, throttles: throttles) }
}
