/// How to reach a database and how to use it.
package struct PostgresConfiguration: Sendable {
    /// A libpq connection string or URI; several hosts are tried in order (`target_session_attrs=read-write` finds the primary).
    package var url: String
    /// Connections the pool may hold at once.
    package var maxConnections: Int
    /// How long a caller waits for a free connection before `poolExhausted`.
    package var acquireTimeout: Duration
    /// Seconds before a connection attempt fails.
    var connectTimeoutSeconds: Int
    /// Server-side limit of one statement.
    package var statementTimeout: Duration
    /// Shown in `pg_stat_activity`.
    package var applicationName: String
    /// Named prepared statements; off behind a pooler that does not track them.
    package var preparesStatements: Bool

    package init(
        url: String,
        maxConnections: Int = 8,
        acquireTimeout: Duration = .seconds(5),
        connectTimeoutSeconds: Int = 5,
        statementTimeout: Duration = .seconds(30),
        applicationName: String = "pushwatch",
        preparesStatements: Bool = true
    ) {
        self.url = url
        self.maxConnections = maxConnections
        self.acquireTimeout = acquireTimeout
        self.connectTimeoutSeconds = connectTimeoutSeconds
        self.statementTimeout = statementTimeout
        self.applicationName = applicationName
        self.preparesStatements = preparesStatements
    }
}
