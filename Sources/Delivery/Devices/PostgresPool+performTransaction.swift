package import Postgres
import PushContract

extension PostgresPool {
    /// A transaction of synchronous statements in one hop, run again after serialization conflicts and deadlocks (at most six times).
    ///
    /// - Parameter isConflict: what else another transaction may have caused, so that a second run goes well.
    package func performTransaction<Value: Sendable>(
        orAgainAfter isConflict: @Sendable (PostgresError) -> Bool = { _ in false },
        _ body: @escaping @Sendable (BlockingConnection) throws -> Value
    ) async throws -> Value {
        var failures = 0
        while true {
            do {
                return try await withConnection { connection in try await connection.perform { try $0.transaction(body) } }
            } catch let error as PostgresError where failures < 5 && (error.isSerializationConflict || isConflict(error)) {
                failures += 1
                try await Task.sleep(for: .milliseconds(Int.random(in: 5...20) << failures))
            }
        }
    }
}
