import CLibPQ

extension BlockingConnection {
    /// Statements of which none needs the answer of another: sent together, one round trip for all (libpq's pipeline mode).
    ///
    /// Outside a transaction they are one, committed at the end; the first error undoes all of it, and is thrown. Inside one, the first
    /// error keeps the later statements from running and leaves the transaction to be rolled back. No COPY, and small answers: the
    /// server must be able to put all of them into the socket while we still send.
    package func pipeline(_ queries: [Query]) throws(PostgresError) {
        if queries.isEmpty { return }
        var arenas: [ParameterArena] = []
        var names: [String?] = []
        for query in queries {
            arenas.append(try checkedArena(query))
            // Preparing is a round trip of its own, once for each statement; not possible in pipeline mode.
            names.append(try statementName(for: query))
        }
        guard PQenterPipelineMode(connection) == 1 else { throw connectionLost() }
        var failure: PostgresError?
        var sent = 0
        for (index, query) in queries.enumerated() {
            guard enqueue(query, arenas[index], name: names[index]) else { break }
            sent += 1
        }
        if sent < queries.count || PQpipelineSync(connection) != 1 { failure = connectionLost() }
        if failure == nil { failure = readAnswers(count: queries.count) }
        // Refuses when something is still to come, which is so only on a broken connection.
        _ = PQexitPipelineMode(connection)
        guard let failure else { return }
        if failure.code == .cachedPlanChanged { forgetStatements() }
        throw failure
    }

    private func enqueue(_ query: Query, _ arena: ParameterArena, name: String?) -> Bool {
        arena.withPointers { types, values, lengths, formats, count in
            if let name { return PQsendQueryPrepared(connection, name, count, values, lengths, formats, 1) == 1 }
            return PQsendQueryParams(connection, query.sql, count, types, values, lengths, formats, 1) == 1
        }
    }

    /// Takes every answer up to the one of the synchronisation point. The first error, if there was one.
    private func readAnswers(count: Int) -> PostgresError? {
        var failure: PostgresError?
        for _ in 0..<count {
            guard let answer = PQgetResult(connection) else { return failure ?? connectionLost() }
            do throws(PostgresError) {
                _ = try take(answer)
            } catch {
                failure = failure ?? error
            }
            while let extra = PQgetResult(connection) { PQclear(extra) }
            guard isHealthy else { return failure ?? connectionLost() }
        }
        guard let end = PQgetResult(connection) else { return failure ?? connectionLost() }
        defer { PQclear(end) }
        if PQresultStatus(end) != PGRES_PIPELINE_SYNC, failure == nil { failure = connectionLost() }
        return failure
    }
}
