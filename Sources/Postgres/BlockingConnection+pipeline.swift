import CLibPQ

extension BlockingConnection {
    /// Statements of which none needs the answer of another: sent together, one round trip for all (libpq's pipeline mode).
    ///
    /// Outside a transaction they are one, committed at the end; the first error undoes all of it, and is thrown. Inside one, the first
    /// error keeps the later statements from running and leaves the transaction to be rolled back. No COPY.
    package func pipeline(_ queries: [Query]) throws(PostgresError) {
        if queries.isEmpty { return }
        var arenas: [ParameterArena] = []
        var names: [String?] = []
        for query in queries {
            arenas.append(try checkedArena(query))
            // Preparing is a round trip of its own, once for each statement; not possible in pipeline mode.
            names.append(try statementName(for: query))
        }
        try begin { PQenterPipelineMode(connection) }
        let failure = sendAll(queries, arenas, names) ?? readAnswers(count: queries.count)
        // Refuses when something is still to come, which is so only on a broken connection.
        _ = PQexitPipelineMode(connection)
        guard let failure else { return }
        if failure.code == .cachedPlanChanged { forgetStatements() }
        throw failure
    }

    private func sendAll(_ queries: [Query], _ arenas: [ParameterArena], _ names: [String?]) -> PostgresError? {
        do throws(PostgresError) {
            for (index, query) in queries.enumerated() {
                guard enqueue(query, arenas[index], name: names[index]) else { throw connectionLost() }
            }
            guard PQpipelineSync(connection) == 1 else { throw connectionLost() }
            try flush()
            return nil
        } catch {
            return error
        }
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
        do throws(PostgresError) {
            for _ in 0..<count {
                guard let answer = try nextAnswer() else { throw connectionLost() }
                do throws(PostgresError) {
                    _ = try take(answer)
                } catch {
                    failure = failure ?? error
                }
                while let extra = try nextAnswer() { PQclear(extra) }
                guard isHealthy else { throw connectionLost() }
            }
            guard let end = try nextAnswer() else { throw connectionLost() }
            defer { PQclear(end) }
            if PQresultStatus(end) != PGRES_PIPELINE_SYNC, failure == nil { throw connectionLost() }
            return failure
        } catch {
            return failure ?? error
        }
    }
}
