import Crypto
import PushContract

/// The statements that this connection has prepared in its session.
///
/// A statement's name is a digest of its text and its parameters' types. So a name can only ever mean one statement, also in a session that
/// a pooler hands from client to client.
struct PreparedStatements {
    private static let limit = 500
    /// A session that so often lacked a statement, or had one already, is not ours alone: there names cost more than they save.
    private static let faultLimit = 3

    private var names: [StatementKey: String] = [:]
    private var faults = 0
    /// The server should forget all of them, once it can.
    var areOutdated = false

    var isFull: Bool { names.count >= PreparedStatements.limit || faults >= PreparedStatements.faultLimit }

    /// The name of a statement that is prepared.
    func name(of key: StatementKey) -> String? { names[key] }

    mutating func add(_ key: StatementKey, _ name: String) { names[key] = name }

    /// The session knew a statement that we had not prepared.
    mutating func found(_ key: StatementKey, _ name: String) {
        names[key] = name
        faults += 1
    }

    /// The session lacks one of these.
    mutating func lost(_ keys: [StatementKey]) {
        for key in keys { names[key] = nil }
        faults += 1
    }

    /// After DDL the server refuses old plans. Others than the one that failed are likely affected too, so all are prepared anew.
    mutating func markOutdated() {
        names.removeAll()
        areOutdated = true
    }
}

/// One text may be prepared for parameters of several types.
struct StatementKey: Hashable {
    private var sql: String
    private var types: [UInt32]

    init(_ query: Query) {
        sql = query.sql
        types = query.parameters.map(\.oid)
    }

    /// Short enough for PostgreSQL's names, long enough that two texts never share one.
    var digest: String {
        var hash = SHA256()
        hash.update(data: Array(sql.utf8))
        // No text contains a zero byte, so text and types cannot run together.
        hash.update(data: [0])
        for type in types { withUnsafeBytes(of: type.bigEndian) { hash.update(bufferPointer: $0) } }
        return "pw" + hash.finalize().prefix(20).hexDigits
    }
}
