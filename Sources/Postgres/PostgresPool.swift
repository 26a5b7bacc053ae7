package import Logging
import Metrics
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization

/// A bounded set of connections, opened when needed, shared by all tasks.
///
/// A caller waits at most `acquireTimeout` for a free one, and no longer than its request has time; then it gets `poolExhausted`.
/// Connections that broke are thrown away; while the database is away callers fail at once between connection attempts, which back off to
/// 2 s. Safe to use from any task.
package final class PostgresPool: PostgresSession, Service, Sendable {
    private typealias Waiter = CheckedContinuation<PostgresConnection?, any Error>

    package let configuration: PostgresConfiguration
    private let logger: Logger
    private let state: Mutex<PoolState<PostgresConnection, Waiter>>
    private let waits = Metrics.Timer(label: "pushwatch_postgres_pool_wait_seconds")
    private let timeouts = Counter(label: "pushwatch_postgres_pool_timeouts_total")

    package init(configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        state = Mutex(PoolState(limit: configuration.maxConnections))
    }

    /// Waits for shutdown, then closes what is idle. Connections in use close when they are given back.
    package func run() async throws {
        try? await gracefulShutdown()
        close()
    }

    package func close() {
        let (_, waiters) = state.withLock { $0.close() }
        for waiter in waiters { waiter.resume(throwing: CancellationError()) }
    }

    /// How many callers wait for a connection now.
    package var waiting: Int { state.withLock { $0.waiting } }

    package func query(_ query: Query) async throws -> [Row] {
        try await withConnection { try await $0.query(query) }
    }

    @discardableResult
    package func execute(_ query: Query) async throws -> Int {
        try await withConnection { try await $0.execute(query) }
    }

    /// Lends a connection to `body`.
    @discardableResult
    package func withConnection<Value>(_ body: (PostgresConnection) async throws -> Value) async throws -> Value {
        let connection = try await acquire()
        do {
            let value = try await body(connection)
            await release(connection)
            return value
        } catch {
            await release(connection)
            throw error
        }
    }

    func logRetry(_ error: PostgresError, failures: Int) {
        logger.debug("a transaction is run again", metadata: ["sqlstate": "\(error.code.rawValue)", "failures": "\(failures)"])
    }

    /// Why callers are refused at the moment; nil when they are not.
    var refusal: PostgresError? { state.withLock { $0.refusal(now: .now()) } }

    private func acquire() async throws -> PostgresConnection {
        while true {
            switch state.withLock({ $0.acquire(now: .now()) }) {
            case .use(let connection):
                guard connection.hasPendingInput else { return connection }
                // The server ended it while it was idle.
                state.withLock { $0.discarded() }?.resume(returning: nil)
            case .open: if let connection = try await open() { return connection }
            case .refuse(let error): throw error
            case .closed: throw PostgresError(.connectionFailure, "the pool is closed")
            case .wait: if let connection = try await waitForConnection() { return connection }
            }
        }
    }

    private func waitForConnection() async throws -> PostgresConnection? {
        let start = ContinuousClock.now
        defer { waits.recordNanoseconds((ContinuousClock.now - start).microseconds * 1000) }
        guard let connection = try await wait() else { return try await open() }
        return connection
    }

    /// Waits for a connection, or (nil) for the right to open one.
    private func wait() async throws -> PostgresConnection? {
        let id = state.withLock { $0.reserveWaiter() }
        let patience = min(configuration.acquireTimeout, WorkDeadline.current.map { $0.end - .now } ?? .seconds(3600))
        defer { state.withLock { $0.forget(id) } }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                let timedOut = (try? await Task.sleep(for: patience)) != nil
                withdraw(id, because: timedOut ? exhausted(patience) : CancellationError())
            }
            defer { group.cancelAll() }
            return try await withCheckedThrowingContinuation { enqueue($0, id: id) }
        }
    }

    private func exhausted(_ patience: Duration) -> PostgresError {
        PostgresError(.poolExhausted, "no database connection became free within \(patience)")
    }

    private func withdraw(_ id: UInt64, because error: any Error) {
        guard let waiter = state.withLock({ $0.withdraw(id, because: error) }) else { return }
        if error is PostgresError { timeouts.increment() }
        waiter.resume(throwing: error)
    }

    /// A connection may have come free between the first look and this one.
    private func enqueue(_ continuation: Waiter, id: UInt64) {
        let outcome: Swift.Result<PostgresConnection?, any Error>? = state.withLock { state in
            switch state.acquire(now: .now()) {
            case .use(let connection): return .success(connection)
            case .open: return .success(nil)
            case .refuse(let error): return .failure(error)
            case .closed: return .failure(CancellationError())
            case .wait: return state.enqueue(continuation, id: id).map { .failure($0) }
            }
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    /// Nil where none could be opened, as at `max_connections`, and there is another, which can be waited for.
    private func open() async throws -> PostgresConnection? {
        // A connection attempt cannot be cut short: it is begun only while there is time for one that hangs.
        if let end = WorkDeadline.current?.end, end - .now < .seconds(configuration.connectTimeoutSeconds) {
            state.withLock { $0.passOnOpening() }?.resume(returning: nil)
            throw PostgresError(.poolExhausted, "no database connection is open, and the time for this request is over")
        }
        do {
            let connection = try await PostgresConnection.connect(configuration)
            state.withLock { $0.opened() }
            return connection
        } catch {
            let cause = error as? PostgresError ?? PostgresError(.connectionFailure, "\(error)")
            let (waiters, hasConnection) = state.withLock { ($0.failedToOpen(cause, now: .now()), $0.hasConnection) }
            for waiter in waiters { waiter.resume(throwing: cause) }
            guard hasConnection else { throw cause }
            return nil
        }
    }

    private func release(_ connection: PostgresConnection) async {
        let reusable = await connection.isReusable()
        switch state.withLock({ $0.release(connection, reusable: reusable) }) {
        case .hand(let connection, let waiter): waiter.resume(returning: connection)
        case .open(let waiter): waiter.resume(returning: nil)
        case .keep, .close: break
        }
        // The others were most likely cut off together with this one.
        if !reusable { _ = state.withLock { $0.dropIdle() } }
    }
}
