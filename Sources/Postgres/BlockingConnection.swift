import CLibPQ

/// One libpq connection, used synchronously by its one owner, never longer than until a deadline.
///
/// Not `Sendable`: it lives on its `PostgresConnection`'s queue and blocks only that queue. A whole transaction written against it
/// costs one hop, however many statements it has; the ingestion path uses that.
package final class BlockingConnection {
    let connection: OpaquePointer
    let preparesStatements: Bool
    var prepared = PreparedStatements()
    /// What goes with each transaction; nil where the session itself is set.
    let settings: SessionSettings?
    /// How long one call may take; nil: no limit.
    var callTimeout: Duration?
    /// When the request that this work is for has to be answered.
    var workEnd: ContinuousClock.Instant?
    /// When the call under way is given up.
    var callEnd: ContinuousClock.Instant?
    let interruption = CallInterruption()
    /// What goes with the next call, in one message: BEGIN, and statements whose answers are not awaited.
    var deferred: [Query] = []
    /// A call was given up: the session must not be used again.
    var isAbandoned = false
    /// The session found no partition for a row. Its list of partitions may be an old one, which it would keep: read while one was
    /// attached.
    private(set) var foundNoPartition = false

    /// Connects, blocking until a server answers or the connect timeout has passed for each host (libpq keeps it, sign-in included).
    init(_ configuration: PostgresConfiguration) throws(PostgresError) {
        if let fault = ConnectionString.fault(in: configuration.url) {
            throw PostgresError(.connectionFailure, "the connection string cannot be used: \(fault)")
        }
        let settings = SessionSettings(configuration)
        var options: [(String, String)] = [
            // Options before the URL are defaults, which it overrides; options after it override the URL.
            ("connect_timeout", String(configuration.connectTimeoutSeconds)),
            ("fallback_application_name", configuration.applicationName),
            ("dbname", configuration.url),
            ("client_encoding", "UTF8"),
        ]
        if configuration.preparesStatements {
            let given = ConnectionString.keywords(of: configuration.url)["options"] ?? ""
            options.append(("options", settings.startupOptions + given))
        }
        options += configuration.hostOrder.keywords(for: configuration.url)
        let keywords = CStringArray(options.map(\.0))
        let values = CStringArray(options.map(\.1))
        // expand_dbname = 1: a connection string in dbname is taken apart.
        guard let opened = PQconnectdbParams(keywords.pointer, values.pointer, 1) else {
            throw PostgresError(.connectionFailure, "out of memory while connecting")
        }
        guard PQstatus(opened) == CONNECTION_OK else {
            let message = String(cString: PQerrorMessage(opened)).firstLine
            PQfinish(opened)
            throw PostgresError(.connectionFailure, message)
        }
        connection = opened
        preparesStatements = configuration.preparesStatements
        self.settings = preparesStatements ? nil : settings
        callTimeout = configuration.callTimeout
        PQsetNoticeProcessor(opened, { _, _ in }, nil)
        PQsetnonblocking(opened, 1)
        if let host = PQhost(opened), let port = PQport(opened) {
            configuration.hostOrder.connected(host: String(cString: host), port: String(cString: port), url: configuration.url)
        }
    }

    deinit { PQfinish(connection) }

    /// 150014 is PostgreSQL 15.14.
    var serverVersion: Int { Int(PQserverVersion(connection)) }

    /// The socket, for a look at whether the server has said something unasked.
    var socket: Int32 { PQsocket(connection) }

    /// A handle with which another thread can cancel the running statement.
    func cancelHandle() -> OpaquePointer? { PQgetCancel(connection) }

    package var isHealthy: Bool { !isAbandoned && PQstatus(connection) == CONNECTION_OK }
    package var isIdle: Bool { PQtransactionStatus(connection) == PQTRANS_IDLE }
    /// Also when its BEGIN is still to be sent.
    package var isInTransaction: Bool { !deferred.isEmpty || !isIdle }

    package func query(_ query: Query) throws(PostgresError) -> [Row] { try run(query).rows }

    @discardableResult
    package func execute(_ query: Query) throws(PostgresError) -> Int { try run(query).affectedRows }

    /// A statement of the open transaction whose answer is not needed: it goes with the next call or the commit, which saves a round trip.
    /// That call throws what it fails with. Outside a transaction it is run at once.
    package func executeLater(_ query: Query) throws(PostgresError) {
        if isInTransaction { deferred.append(query) } else { try execute(query) }
    }

    /// Several statements in one string, without parameters. Outside a transaction our settings are in force only where sessions are our
    /// own.
    package func executeScript(_ sql: String) throws(PostgresError) {
        try sendDeferred()
        try check(exchange { PQsendQuery(connection, sql) })
    }

    /// Opens a transaction with our settings. `begin`: BEGIN, and what else should go in the same message.
    package func beginTransaction(_ begin: String = "BEGIN") throws(PostgresError) {
        try executeScript((settings?.script ?? "") + begin)
    }

    @discardableResult
    func check(_ result: ResultSet) throws(PostgresError) -> ResultSet {
        let status = PQresultStatus(result.pointer)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK else {
            throw PostgresError(.connectionFailure, "unexpected answer of the server")
        }
        return result
    }

    func take(_ pointer: OpaquePointer?) throws(PostgresError) -> ResultSet {
        guard let pointer else { throw connectionLost() }
        let result = ResultSet(owning: pointer)
        switch PQresultStatus(pointer) {
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR:
            let error = self.error(in: pointer)
            if error.isMissingPartition { foundNoPartition = true }
            throw error
        default:
            return result
        }
    }

    private func error(in result: OpaquePointer) -> PostgresError {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        guard let state = field(pushwatch_diag_sqlstate()) else { return connectionLost() }
        // "feature not supported" has many causes; only this function of the server means an outdated plan.
        let isOutdatedPlan = state == "0A000" && field(pushwatch_diag_source_function()) == "RevalidateCachedQuery"
        return PostgresError(
            isOutdatedPlan ? .cachedPlanChanged : PostgresError.Code(rawValue: state),
            field(pushwatch_diag_message_primary()) ?? "unknown error",
            detail: field(pushwatch_diag_message_detail()),
            constraint: field(pushwatch_diag_constraint_name())
        )
    }

    func connectionLost() -> PostgresError {
        PostgresError(.connectionFailure, String(cString: PQerrorMessage(connection)).firstLine)
    }
}

extension String {
    fileprivate var firstLine: String { String(prefix { $0 != "\n" }) }
}
