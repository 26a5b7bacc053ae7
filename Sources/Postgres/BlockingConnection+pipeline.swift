import CLibPQ

extension BlockingConnection {
    /// Statements of which none needs the answer of another: sent together, one round trip for all (libpq's pipeline mode).
    ///
    /// Outside a transaction they are one, committed at the end; the first error undoes all of it, and is thrown. Where they change
    /// distributed tables that needs BEGIN and COMMIT among them. Inside a transaction, the first error keeps the later statements from
    /// running and leaves the transaction to be rolled back. No COPY.
    package func pipeline(_ queries: [Query]) throws(PostgresError) {
        if !queries.isEmpty { _ = try pipelined(queries) }
    }

    /// Runs what was left for the next call.
    func sendDeferred() throws(PostgresError) {
        if !deferred.isEmpty { _ = try pipelined([]) }
    }

    /// The same, with the answer of the last one. What was left for this call goes first.
    func pipelined(_ given: [Query]) throws(PostgresError) -> ResultSet {
        // They are one transaction, and where one of them is BEGIN it goes on after them.
        let queries = (isIdle ? settings.map { [$0.query] } ?? [] : []) + deferred + given
        let begins = isIdle && !deferred.isEmpty
        deferred = []
        do throws(PostgresError) {
            return try exchange(queries)
        } catch {
            var failure = error
            failure.precedesWork = begins
            throw failure
        }
    }

    private func exchange(_ queries: [Query]) throws(PostgresError) -> ResultSet {
        var arenas: [ParameterArena] = []
        var names: [String?] = []
        for query in queries {
            arenas.append(try checkedArena(query))
            // Preparing is a round trip of its own, once for each statement; not possible in pipeline mode.
            names.append(try statementName(for: query))
        }
        try begin { PQenterPipelineMode(connection) }
        var last: ResultSet?
        let failure = sendAll(queries, arenas, names) ?? readAnswers(count: queries.count, last: &last)
        // Refuses when something is still to come, which is so only on a broken connection.
        _ = PQexitPipelineMode(connection)
        if let failure {
            forget(queries, after: failure)
            throw failure
        }
        guard let last else { throw connectionLost() }
        return last
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

    /// Takes every answer up to the one of the synchronisation point, and keeps the last. The first error, if there was one.
    private func readAnswers(count: Int, last: inout ResultSet?) -> PostgresError? {
        var failure: PostgresError?
        do throws(PostgresError) {
            for _ in 0..<count {
                guard let answer = try nextAnswer() else { throw connectionLost() }
                do throws(PostgresError) {
                    last = try take(answer)
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
