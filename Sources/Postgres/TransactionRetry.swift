package import ServiceKit

/// Which failures a transaction is run again for, how often, and after what wait.
package struct TransactionRetry: Sendable {
    static let standardBackoff = Backoff(base: .milliseconds(30), minimum: .milliseconds(10), cap: .seconds(1))

    private let attempts: Int
    private let backoff: Backoff
    private let isRetryable: @Sendable (PostgresError) -> Bool

    /// - Parameter attempts: How often the transaction is run at the most; the error of the last one is thrown.
    package init(
        attempts: Int = 6,
        backoff: Backoff = TransactionRetry.standardBackoff,
        isRetryable: @escaping @Sendable (PostgresError) -> Bool
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.isRetryable = isRetryable
    }

    /// Serialization failure, deadlock, lock timeout: the server has undone everything. And a connection that was gone before BEGIN.
    package static let conflicts = TransactionRetry { $0.isSerializationConflict || ($0.isConnectionLoss && $0.precedesWork) }

    /// These, a lost connection, an I/O error and a part of the database that is away. Only for work that is idempotent, since a lost
    /// COMMIT may have happened.
    package static let idempotent = TransactionRetry {
        $0.isSerializationConflict || $0.isConnectionLoss || $0.code.rawValue == "58030" || $0.code == .internalError
    }

    package static let never = TransactionRetry { _ in false }

    /// Also retries these failures.
    package func or(_ isAlsoRetryable: @escaping @Sendable (PostgresError) -> Bool) -> TransactionRetry {
        TransactionRetry(attempts: attempts, backoff: backoff) { isRetryable($0) || isAlsoRetryable($0) }
    }

    /// Does not retry this failure.
    package func except(_ code: PostgresError.Code) -> TransactionRetry {
        TransactionRetry(attempts: attempts, backoff: backoff) { $0.code != code && isRetryable($0) }
    }

    /// Runs `body`, again from its start for the failures that allow it, while the request it works for can still be answered.
    ///
    /// - Parameter onRetry: before the wait, with the number of failures so far.
    package func run<Value>(
        onRetry: (PostgresError, _ failures: Int) async throws -> Void = { _, _ in },
        _ body: () async throws -> Value
    ) async throws -> Value {
        var failures = 0
        while true {
            do {
                return try await body()
            } catch let error as PostgresError
                where isRetryable(error) && failures + 1 < attempts && !WorkDeadline.isOver
            {
                failures += 1
                try await onRetry(error, failures)
                try await Task.sleep(for: backoff.wait(failures: failures, random: .random(in: 0...1)))
            }
        }
    }
}

extension PostgresPool {
    /// Runs `body` in a transaction, again from its start for the failures `retry` allows.
    @discardableResult
    package func withTransaction<Value>(
        _ begin: String = "BEGIN",
        retrying retry: TransactionRetry = .conflicts,
        _ body: (PostgresTransaction) async throws -> Value
    ) async throws -> Value {
        try await retry.run(onRetry: logRetry) { try await withConnection { try await $0.withTransaction(begin, body) } }
    }

    /// The same for synchronous statements, in one hop.
    @discardableResult
    package func performTransaction<Value: Sendable>(
        retrying retry: TransactionRetry = .conflicts,
        _ body: @escaping @Sendable (BlockingConnection) throws -> Value
    ) async throws -> Value {
        try await retry.run(onRetry: logRetry) { try await withConnection { try await $0.perform { try $0.transaction(body) } } }
    }
}
