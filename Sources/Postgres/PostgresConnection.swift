import CLibPQ
import Dispatch
import PushContract
import ServiceKit
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// One connection on a queue of its own, so that libpq may block without taking a thread of the cooperative pool.
///
/// Safe to use from any task: statements run one after the other. A cancelled task cancels its running statement at the server. Calls of a
/// task that works for a request end by the request's `WorkDeadline`.
///
/// `@unchecked Sendable`: `blocking` is touched only on `queue`.
package final class PostgresConnection: PostgresSession, @unchecked Sendable {
    private let queue: DispatchQueue
    private let blocking: BlockingConnection
    private let canceller: StatementCanceller
    private let socket: Int32
    /// 150014 is PostgreSQL 15.14.
    let serverVersion: Int

    private init(queue: DispatchQueue, blocking: BlockingConnection) {
        self.queue = queue
        self.blocking = blocking
        canceller = StatementCanceller(handle: blocking.cancelHandle(), interruption: blocking.interruption)
        socket = blocking.socket
        serverVersion = blocking.serverVersion
    }

    /// Connects off the cooperative pool.
    package static func connect(_ configuration: PostgresConfiguration) async throws -> PostgresConnection {
        let queue = DispatchQueue(label: "pushwatch.postgres")
        return try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Swift.Result { PostgresConnection(queue: queue, blocking: try BlockingConnection(configuration)) }
                )
            }
        }
    }

    /// Runs `body` on the connection's queue: any number of statements for one hop.
    @discardableResult
    package func perform<Value: Sendable>(_ body: @escaping @Sendable (BlockingConnection) throws -> Value) async throws -> Value {
        let ticket = canceller.newTicket()
        let workEnd = WorkDeadline.current?.end
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { [self] in
                    guard canceller.begin(ticket) else {
                        continuation.resume(throwing: CancellationError())
                        return
                    }
                    blocking.workEnd = workEnd
                    let result = Swift.Result { try body(blocking) }
                    blocking.workEnd = nil
                    let (wasCancelled, isUsable) = canceller.end(ticket)
                    if !isUsable { blocking.abandon() }
                    if wasCancelled, case .failure(let error as PostgresError) = result,
                        error.code == .queryCancelled || error.code == .callTimeout
                    {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        continuation.resume(with: result)
                    }
                }
            }
        } onCancel: {
            canceller.cancel(ticket)
        }
    }

    /// For cleaning up: runs although the calling task may be cancelled.
    func performUncancelled(_ body: @escaping @Sendable (BlockingConnection) -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async { [self] in
                body(blocking)
                continuation.resume()
            }
        }
    }

    package func query(_ query: Query) async throws -> [Row] {
        try await perform { try $0.query(query) }
    }

    @discardableResult
    package func execute(_ query: Query) async throws -> Int {
        try await perform { try $0.execute(query) }
    }

    package func executeScript(_ sql: String) async throws {
        try await perform { try $0.executeScript(sql) }
    }

    /// The same, cancelled after `limit`: for what PostgreSQL runs in no transaction, which a setting could limit only for the whole
    /// session.
    package func executeScript(_ sql: String, cancelledAfter limit: Duration) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.executeScript(sql) }
            group.addTask {
                try await Task.sleep(for: limit)
                throw PostgresError(.queryCancelled, "cancelled after \(limit)")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    @discardableResult
    package func copyIn(_ sql: String, data: [UInt8]) async throws -> Int {
        try await perform { connection in try data.withUnsafeBytes { try connection.copyIn(sql, data: $0) } }
    }

    /// For an idle connection: the server has sent something that no statement asked for, almost always the end of the connection.
    ///
    /// A look at the socket, without waiting and without the queue.
    var hasPendingInput: Bool {
        var look = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&look, 1, 0) != 0
    }

    /// Usable for the next caller: connected, outside any transaction, and with a list of partitions that nothing contradicts.
    func isReusable() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: blocking.isHealthy && blocking.isIdle && !blocking.foundNoPartition) }
        }
    }
}
