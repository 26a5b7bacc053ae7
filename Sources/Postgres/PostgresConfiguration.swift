/// How to reach a database and how to use it.
package struct PostgresConfiguration: Sendable {
    /// A libpq connection string or URI; several hosts are tried in order (`target_session_attrs=read-write` finds the primary).
    package var url: String
    /// Connections the pool may hold at once.
    package var maxConnections: Int
    /// How long a caller waits for a free connection before `poolExhausted`.
    package var acquireTimeout: Duration
    /// Seconds before a connection attempt to one host fails and the next host is tried; libpq takes less than 2 as 2.
    package var connectTimeoutSeconds: Int
    /// Server-side limit of one statement; zero: none.
    package var statementTimeout: Duration
    /// Our own limit of one call, for a server that does not answer at all: the connection is closed then, and a commit under way is
    /// unknown. Nil: none. Longer than `statementTimeout`, so that a statement that is merely slow ends with its own error.
    package var callTimeout: Duration?
    /// Server-side limit of the pauses inside a transaction. A client that stops in the middle of one keeps its locks for so long.
    package var idleTransactionTimeout = Duration.seconds(60)
    /// Shown in `pg_stat_activity`.
    package var applicationName: String
    /// Prepared statements, and sessions with our settings. Off behind a pooler, which gives a session to another client after each
    /// transaction: then statements have no names, and settings go with each transaction.
    package var preparesStatements: Bool
    /// For sessions whose statements look rows up by an index: no plan of theirs reads a whole table. The plan of a prepared statement is
    /// kept, and one made while a queue is empty reads it whole, for each row of a join again once the queue is long.
    package var looksUpByIndex = false
    /// Shared by all copies of this configuration.
    let hostOrder = HostOrder()

    package init(
        url: String,
        maxConnections: Int = 8,
        acquireTimeout: Duration = .seconds(5),
        connectTimeoutSeconds: Int = 3,
        statementTimeout: Duration = .seconds(30),
        callTimeout: Duration? = nil,
        applicationName: String = "pushwatch",
        preparesStatements: Bool = true
    ) {
        self.url = url
        self.maxConnections = maxConnections
        self.acquireTimeout = acquireTimeout
        self.connectTimeoutSeconds = connectTimeoutSeconds
        self.statementTimeout = statementTimeout
        self.callTimeout = callTimeout ?? (statementTimeout > .zero ? statementTimeout + .seconds(2) : nil)
        self.applicationName = applicationName
        self.preparesStatements = preparesStatements
    }
}
