import CLibPQ
import PushContract

/// One libpq connection, used synchronously by its one owner, never longer than until a deadline.
///
/// Not `Sendable`: it lives on its `PostgresConnection`'s queue and blocks only that queue. A whole transaction written against it
/// costs one hop, however many statements it has; the ingestion path uses that.
package final class BlockingConnection {
    let connection: OpaquePointer
    private let preparesStatements: Bool
    private var prepared: [StatementKey: String] = [:]
    private var lastStatement = 0
    /// Statements the server should forget, once no transaction is open.
    private var hasOutdatedStatements = false
    private static let preparedLimit = 500
    /// How long one call may take; nil: no limit.
    var callTimeout: Duration?
    /// When the request that this work is for has to be answered.
    var workEnd: ContinuousClock.Instant?
    /// When the call under way is given up.
    var callEnd: ContinuousClock.Instant?
    let interruption = CallInterruption()
    /// A call was given up: the session must not be used again.
    var isAbandoned = false

    /// Connects, blocking until a server answers or the connect timeout has passed for each host (libpq keeps it, sign-in included).
    init(_ configuration: PostgresConfiguration) throws(PostgresError) {
        let options: [(String, String)] =
            [
                // What stands before the URL is a default; what stands after it, our own need.
                ("connect_timeout", String(configuration.connectTimeoutSeconds)),
                ("fallback_application_name", configuration.applicationName),
                ("dbname", configuration.url),
                ("client_encoding", "UTF8"),
                (
                    "options",
                    "-c statement_timeout=\(configuration.statementTimeout.microseconds / 1000) -c timezone=UTC"
                        + " -c client_min_messages=warning -c idle_in_transaction_session_timeout="
                        + "\(configuration.idleTransactionTimeout.microseconds / 1000) "
                        // Without sequential scans, costs where no index serves would be enough to compile the statement.
                        + (configuration.looksUpByIndex ? "-c enable_seqscan=off -c jit=off " : "")
                        + (ConnectionString.keywords(of: configuration.url)["options"] ?? "")
                ),
            ] + configuration.hostOrder.keywords(for: configuration.url)
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
        callTimeout = configuration.callTimeout
        PQsetNoticeProcessor(opened, { _, _ in }, nil)
        PQsetnonblocking(opened, 1)
        if let host = PQhost(opened), let port = PQport(opened) {
            configuration.hostOrder.connected(host: String(cString: host), port: String(cString: port), url: configuration.url)
        }
    }

    deinit { PQfinish(connection) }

    /// The socket, for a look at whether the server has said something unasked.
    var socket: Int32 { PQsocket(connection) }

    /// A handle with which another thread can cancel the running statement.
    func cancelHandle() -> OpaquePointer? { PQgetCancel(connection) }

    package var isHealthy: Bool { !isAbandoned && PQstatus(connection) == CONNECTION_OK }
    package var isIdle: Bool { PQtransactionStatus(connection) == PQTRANS_IDLE }

    package func query(_ query: Query) throws(PostgresError) -> [Row] { try run(query).rows }

    @discardableResult
    package func execute(_ query: Query) throws(PostgresError) -> Int { try run(query).affectedRows }

    /// Several statements in one string, without parameters: migrations and `BEGIN`.
    package func executeScript(_ sql: String) throws(PostgresError) {
        try check(exchange { PQsendQuery(connection, sql) })
    }

    private func run(_ query: Query) throws(PostgresError) -> ResultSet {
        let arena = try checkedArena(query)
        do {
            return try send(query, arena)
        } catch  where error.code == .cachedPlanChanged {
            forgetStatements()
            guard isIdle else { throw error }
            return try send(query, arena)
        }
    }

    /// After DDL the server refuses old plans. Others are likely affected too, so all are prepared anew: at once outside a
    /// transaction; inside, where the error has ended it, when the transaction is run again.
    func forgetStatements() {
        prepared.removeAll()
        hasOutdatedStatements = true
    }

    func checkedArena(_ query: Query) throws(PostgresError) -> ParameterArena {
        let arena = ParameterArena(query.parameters)
        // A text parameter would silently end at the zero byte.
        guard arena.isSendable else {
            throw PostgresError(PostgresError.Code(rawValue: "22021"), "a text parameter holds a NUL character")
        }
        return arena
    }

    private func send(_ query: Query, _ arena: ParameterArena) throws(PostgresError) -> ResultSet {
        guard let name = try statementName(for: query) else {
            return try check(
                exchange {
                    arena.withPointers { types, values, lengths, formats, count in
                        PQsendQueryParams(connection, query.sql, count, types, values, lengths, formats, 1)
                    }
                }
            )
        }
        return try check(
            exchange {
                arena.withPointers { _, values, lengths, formats, count in
                    PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1)
                }
            }
        )
    }

    /// The name under which the server knows the statement, prepared now if it is new; nil where statements are not prepared.
    func statementName(for query: Query) throws(PostgresError) -> String? {
        guard preparesStatements else { return nil }
        if hasOutdatedStatements, isIdle {
            try check(exchange { PQsendQuery(connection, "DEALLOCATE ALL") })
            hasOutdatedStatements = false
        }
        let types = query.parameters.map(\.oid)
        let key = StatementKey(sql: query.sql, types: types)
        if let known = prepared[key] { return known }
        guard prepared.count < BlockingConnection.preparedLimit else { return nil }
        // Never the same name twice: an outdated statement may still hold it.
        lastStatement += 1
        let name = "s\(lastStatement)"
        try check(exchange { PQsendPrepare(connection, name, query.sql, Int32(types.count), types) })
        prepared[key] = name
        return name
    }

    @discardableResult
    private func check(_ result: ResultSet) throws(PostgresError) -> ResultSet {
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
            throw error(in: pointer)
        default:
            return result
        }
    }

    private func error(in result: OpaquePointer) -> PostgresError {
        func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
        guard let state = field(pushwatch_diag_sqlstate()) else { return connectionLost() }
        // "feature not supported" has many causes; only this function of the server means an outdated plan. 26000: it was dropped.
        let isOutdatedPlan = state == "26000" || (state == "0A000" && field(pushwatch_diag_source_function()) == "RevalidateCachedQuery")
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

/// One text may be prepared for parameters of several types.
struct StatementKey: Hashable {
    var sql: String
    var types: [UInt32]
}

extension String {
    fileprivate var firstLine: String { String(prefix { $0 != "\n" }) }
}
