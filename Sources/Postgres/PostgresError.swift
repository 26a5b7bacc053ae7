/// A failure of PostgreSQL or of the way to it. Decide on `code` (SQLSTATE), never on the text.
///
/// `description` is safe to log: it contains the server's primary message and no parameters.
package struct PostgresError: Error, Sendable, CustomStringConvertible {
    /// A SQLSTATE of five characters; a class is its first two.
    package struct Code: RawRepresentable, Sendable, Hashable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        package static let uniqueViolation = Code(rawValue: "23505")
        package static let checkViolation = Code(rawValue: "23514")
        package static let divisionByZero = Code(rawValue: "22012")
        static let serializationFailure = Code(rawValue: "40001")
        package static let deadlock = Code(rawValue: "40P01")
        package static let lockNotAvailable = Code(rawValue: "55P03")
        package static let queryCancelled = Code(rawValue: "57014")
        package static let insufficientPrivilege = Code(rawValue: "42501")
        /// The server is a standby, or its transactions only read.
        package static let readOnlyTransaction = Code(rawValue: "25006")
        package static let undefinedTable = Code(rawValue: "42P01")
        package static let duplicateTable = Code(rawValue: "42P07")
        static let statementExists = Code(rawValue: "42P05")
        static let statementMissing = Code(rawValue: "26000")
        /// An internal error of the server; what a distributed engine says while one of its nodes is away.
        package static let internalError = Code(rawValue: "XX000")
        /// Our own: the connection was lost or could not be made.
        package static let connectionFailure = Code(rawValue: "08006")
        /// Our own: no answer within our deadline; the connection was closed. Of class 08: what was under way may have happened.
        package static let callTimeout = Code(rawValue: "08PW1")
        /// Our own: no connection of the pool became free in time.
        package static let poolExhausted = Code(rawValue: "PW001")
        /// Our own, for one cause of 0A000: a prepared statement no longer fits the tables. Nothing was done; run it again.
        package static let cachedPlanChanged = Code(rawValue: "PW003")
        /// Our own: a column does not contain what the caller decodes.
        package static let decoding = Code(rawValue: "PW002")

        /// The class: the first two characters.
        var codeClass: Substring { rawValue.prefix(2) }
    }

    package var code: Code
    package var message: String
    package var detail: String?
    package var constraint: String?
    /// The connection was found broken at BEGIN, so nothing of the transaction can have happened.
    var precedesWork = false

    package init(_ code: Code, _ message: String, detail: String? = nil, constraint: String? = nil) {
        self.code = code
        self.message = message
        self.detail = detail
        self.constraint = constraint
    }

    package var description: String { "PostgreSQL \(code.rawValue): \(message)" }

    /// The session is gone; whether its last COMMIT happened is unknown.
    package var isConnectionLoss: Bool {
        code.codeClass == "08" || ["57P01", "57P02", "57P03"].contains(code.rawValue)
    }

    /// The database cannot work now (away, starting, out of connections or disk, a part of it away, pool exhausted): worth a 503 and a
    /// later try.
    package var isUnavailable: Bool {
        isConnectionLoss || code == .poolExhausted || code.codeClass == "53" || code.codeClass == "58" || code == .readOnlyTransaction
            || code == .internalError
    }

    /// The whole transaction may be run again: nothing of it remains.
    package var isSerializationConflict: Bool {
        code == .serializationFailure || code == .deadlock || code == .lockNotAvailable || isStatementFault || isMissingPartition
    }

    /// No partition takes the row; for a moment that is so, too, after one was attached: a commit is seen before its notice to the sessions
    /// that keep a list of the partitions. The same code for a CHECK that is violated comes with that constraint's name.
    package var isMissingPartition: Bool { code == .checkViolation && constraint == nil }

    /// A prepared statement that is outdated, missing or there already: nothing was done, and the next try prepares it anew.
    var isStatementFault: Bool { code == .cachedPlanChanged || code == .statementMissing || code == .statementExists }
}
