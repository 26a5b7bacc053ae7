/// Whatever runs statements: the pool (each on any connection), a connection, or a transaction.
package protocol PostgresSession: Sendable {
    /// Runs one statement and returns its rows.
    func query(_ query: Query) async throws -> [Row]
    /// Runs one statement and returns how many rows it changed.
    @discardableResult func execute(_ query: Query) async throws -> Int
}
