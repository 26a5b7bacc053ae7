import CLibPQ

extension BlockingConnection {
    /// A `COPY … FROM STDIN` and the whole of its stream, in the statement's format.
    package typealias Copy = (statement: String, data: UnsafeRawBufferPointer)

    /// One COPY; statements without parameters may precede it in the same text. How many rows it took.
    @discardableResult
    package func copyIn(_ sql: String, data: UnsafeRawBufferPointer) throws(PostgresError) -> Int { try copyIn([(sql, data)]) }

    /// Several one after the other, asked for in one message: the server goes on to the next by itself, so each costs one round trip and
    /// not two. How many rows they took together.
    ///
    /// The first error ends all of it. Outside a transaction the statements are one; inside one, it is to be rolled back.
    ///
    /// - Parameter commits: the open transaction after the last one, in the same message.
    @discardableResult
    package func copyIn(_ copies: [Copy], commits: Bool = false) throws(PostgresError) -> Int {
        try sendDeferred()
        let settings = isIdle ? settings?.script ?? "" : ""
        let statements = copies.map(\.statement) + (commits ? ["COMMIT"] : [])
        try begin { PQsendQuery(connection, settings + statements.joined(separator: ";\n")) }
        try flush()
        var rest = copies[...]
        var rows = 0
        var failure: PostgresError?
        while let raw = try nextAnswer() {
            let answer: ResultSet
            do throws(PostgresError) {
                answer = try take(raw)
            } catch {
                // Nothing after it is run; what is left to read is its end.
                failure = failure ?? error
                continue
            }
            switch PQresultStatus(answer.pointer) {
            case PGRES_COPY_IN:
                guard let copy = rest.popFirst() else { throw try withoutStream() }
                try put(copy.data)
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: rows += answer.affectedRows
            // During a COPY in the other direction; the pool sees that the connection is not idle.
            default: throw notACopy
            }
        }
        if let failure { throw failure }
        guard rest.isEmpty else { throw notACopy }
        return rows
    }

    private func put(_ data: UnsafeRawBufferPointer) throws(PostgresError) {
        var offset = 0
        while offset < data.count {
            // What the socket does not take at once libpq keeps, and moves to the front with each further write.
            let length = min(data.count - offset, 1 << 17)
            let chunk = data.baseAddress!.advanced(by: offset).assumingMemoryBound(to: CChar.self)
            // The connection stays in the COPY state: the pool sees that it is not idle.
            guard PQputCopyData(connection, chunk, Int32(length)) == 1 else { throw connectionLost() }
            try flush()
            offset += length
        }
        guard PQputCopyEnd(connection, nil) == 1 else { throw connectionLost() }
        try flush()
    }

    /// Ends a COPY that there is no stream for.
    private func withoutStream() throws(PostgresError) -> PostgresError {
        PQputCopyEnd(connection, "no stream for it")
        try flush()
        while let answer = try nextAnswer() { PQclear(answer) }
        return notACopy
    }

    private var notACopy: PostgresError {
        PostgresError(PostgresError.Code(rawValue: "42601"), "not as many COPY FROM STDIN statements as streams")
    }
}
