import CLibPQ

/// Single statements, by name where statements are prepared.
extension BlockingConnection {
    func run(_ query: Query) throws(PostgresError) -> ResultSet {
        if !deferred.isEmpty || settings != nil && isIdle { return try pipelined([query]) }
        let arena = try checkedArena(query)
        for _ in 1...2 {
            do throws(PostgresError) {
                return try send(query, arena, name: try statementName(for: query))
            } catch  where error.isStatementFault {
                forget([query], after: error)
                // Inside a transaction the error has ended it; the statement is prepared anew when that is run again.
                guard isIdle else { throw error }
            }
        }
        return try send(query, arena, name: nil)
    }

    private func send(_ query: Query, _ arena: ParameterArena, name: String?) throws(PostgresError) -> ResultSet {
        try check(exchange { enqueue(query, arena, name: name) ? 1 : 0 })
    }

    /// Gives a statement to libpq to be sent.
    func enqueue(_ query: Query, _ arena: ParameterArena, name: String?) -> Bool {
        arena.withPointers { types, values, lengths, formats, count in
            if let name { return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) == 1 }
            return PQsendQueryParams(connection, query.sql, count, types, values, lengths, formats, 1) == 1
        }
    }

    func checkedArena(_ query: Query) throws(PostgresError) -> ParameterArena {
        let arena = ParameterArena(query.parameters)
        // A text parameter would silently end at the zero byte.
        guard arena.isSendable else {
            throw PostgresError(PostgresError.Code(rawValue: "22021"), "a text parameter holds a NUL character")
        }
        return arena
    }

    /// The statement's name in this session, prepared now if it is new; nil where statements are not prepared.
    func statementName(for query: Query) throws(PostgresError) -> String? {
        guard preparesStatements else { return nil }
        if prepared.areOutdated, [PQTRANS_IDLE, PQTRANS_INTRANS].contains(PQtransactionStatus(connection)) {
            try check(exchange { PQsendQuery(connection, "DEALLOCATE ALL") })
            prepared.areOutdated = false
        }
        let key = StatementKey(query)
        if let known = prepared.name(of: key) { return known }
        if prepared.isFull { return nil }
        let name = key.digest
        let types = query.parameters.map(\.oid)
        do throws(PostgresError) {
            try check(exchange { PQsendPrepare(connection, name, query.sql, Int32(types.count), types) })
            prepared.add(key, name)
        } catch  where error.code == .statementExists {
            // Its name says that it is this statement; another client of the session has prepared it.
            prepared.found(key, name)
            guard isIdle else { throw error }
        }
        return name
    }

    /// After an error that is about preparation, of one of these.
    func forget(_ queries: [Query], after error: PostgresError) {
        switch error.code {
        case .cachedPlanChanged: prepared.markOutdated()
        case .statementMissing: prepared.lost(queries.map(StatementKey.init))
        default: break
        }
    }
}
