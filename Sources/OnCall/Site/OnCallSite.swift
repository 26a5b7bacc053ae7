package import Access
package import Alerting
package import Delivery
package import Postgres
package import PushContract

/// What the pages are made from. Each page makes its own store of it.
package struct OnCallSite: Sendable {
    /// For reading; that of the replica where the page is made from it.
    private(set) var pool: PostgresPool
    let rules: RuleRegistry
    let receivers: ReceiverRegistry?
    let backtests: BacktestCache
    private(set) var sends: SendStore
    private(set) var throttles: ThrottleStore
    let actions: OnCallActions
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
        actions = OnCallActions(pool: pool, sends: sends, throttles: throttles)
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

    /// The same, read from elsewhere.
    package func reading(from pool: PostgresPool, sends: SendStore, throttles: ThrottleStore) -> OnCallSite {
        var site = self
        site.pool = pool
        site.sends = sends
        site.throttles = throttles
        return site
    }
}
