import PushContract

/// A transaction on one connection. Valid inside the closure it is given to, and only there.
package struct PostgresTransaction: PostgresSession {
    package let connection: PostgresConnection

    package func query(_ query: Query) async throws -> [Row] { try await connection.query(query) }

    @discardableResult
    package func execute(_ query: Query) async throws -> Int { try await connection.execute(query) }
}

extension PostgresConnection {
    /// Runs `body` between BEGIN and COMMIT; any error rolls back and is thrown on.
    @discardableResult
    package func withTransaction<Value>(
        _ begin: String = "BEGIN",
        _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        do {
            try await perform { try $0.beginTransaction(begin) }
        } catch var error as PostgresError {
            error.precedesWork = true
            throw error
        }
        do {
            let value = try await body(PostgresTransaction(connection: self))
            try await executeScript("COMMIT")
            return value
        } catch {
            // On a dead connection this fails as well; the pool then drops it. A cancelled task must still roll back.
            await rollBack()
            throw error
        }
    }

    /// Rolls back whatever is open, also when the calling task is cancelled.
    private func rollBack() async {
        await performUncancelled { $0.rollBack() }
    }
}

extension BlockingConnection {
    /// The synchronous form, for work done in one hop. BEGIN goes with the first statement, and COMMIT with what `executeLater` left.
    @discardableResult
    package func transaction<Value>(_ body: (BlockingConnection) throws -> Value) throws -> Value {
        deferred = ["BEGIN"]
        do {
            let value = try body(self)
            // Before COMMIT, so that a connection that is lost with BEGIN has certainly committed nothing.
            if isIdle { try sendDeferred() }
            if deferred.isEmpty { try executeScript("COMMIT") } else { try pipeline(["COMMIT"]) }
            return value
        } catch {
            rollBack()
            throw error
        }
    }
}
