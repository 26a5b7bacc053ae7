import Foundation
package import Logging
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Writes a row every two seconds, on a connection of its own, and says whether that works: readiness means that the next write would
/// succeed, and a database can answer without being able to write.
///
/// One write at a time: one that hangs is not followed by another before its deadline. Safe to share.
package final class DatabaseHeartbeat: Service, Sendable {
    private static let interval: Duration = .seconds(2)
    private let pool: PostgresPool
    private let writers: PostgresPool?
    private let logger: Logger
    /// Names the process in `instances`.
    package let instance = UUID().uuidString
    private let state: Mutex<HeartbeatState>

    /// - Parameters:
    ///   - pool: of its own; its limits are how long one write may take.
    ///   - writers: that of the writes which readiness is about. After an outage it may refuse for a moment longer.
    package init(pool: PostgresPool, writers: PostgresPool? = nil, logger: Logger) {
        self.pool = pool
        self.writers = writers
        self.logger = logger
        state = Mutex(HeartbeatState())
    }

    package func run() async throws {
        try await PeriodicService("database heartbeat", every: Self.interval, logger: logger, failureLevel: .debug, state: ()) { _ in
            try await self.beat()
        }.run()
    }

    /// Why the next write would likely fail; nil when it would likely succeed.
    package func fault() async -> String? {
        if let fault = state.withLock({ $0.fault(now: .now) }) { return fault }
        // Sooner than the next write: a server that has ended the connections.
        do {
            try await pool.ping()
            return writers?.refusal.map { HeartbeatState.reason($0, isCommitting: false) }
        } catch {
            return HeartbeatState.reason(error, isCommitting: false)
        }
    }

    /// Nothing can be written before the database is there: until the next write that is the fault.
    package func waits(because error: PostgresError) {
        let reason =
            error.isConnectionLoss
            ? "the database cannot be reached: \(HeartbeatState.cause(error.message))" : HeartbeatState.reason(error, isCommitting: false)
        state.withLock { _ = $0.failed(reason) }
    }

    /// One write, from BEGIN to the answer of COMMIT.
    package func beat() async throws {
        let isCommitting = Mutex(false)
        do {
            try await write { isCommitting.withLock { $0 = true } }
            let isBack = state.withLock { $0.succeeded(now: .now) }
            if isBack { logger.notice("the database can be written to again") }
        } catch {
            let reason = HeartbeatState.reason(error, isCommitting: isCommitting.withLock { $0 })
            let isNews = state.withLock { $0.failed(reason) }
            if isNews { logger.warning("the database cannot be written to", metadata: ["reason": "\(reason)"]) }
            throw error
        }
    }

    private func write(_ onCommit: @escaping @Sendable () -> Void) async throws {
        try await pool.performTransaction(retrying: .never) { [instance] connection in
            // A sort that does not fit in memory takes space on the disk and gives it back; a small row alone fits into what is there.
            try connection.executeScript("SET LOCAL lock_timeout = 1000; SET LOCAL work_mem = '64kB'")
            try connection.execute(
                "SELECT count(*) FROM (SELECT repeat(md5(g::text), 32) COLLATE \"C\" AS t FROM generate_series(1, 1000) g ORDER BY t) s"
            )
            try connection.execute(
                """
                INSERT INTO instances (instance, at) VALUES (\(instance)::uuid, clock_timestamp())
                ON CONFLICT (instance) DO UPDATE SET at = excluded.at
                """
            )
            try connection.execute("DELETE FROM instances WHERE at < now() - interval '1 day' AND instance <> \(instance)::uuid")
            onCommit()
        }
    }
}

/// What the heartbeats say, as a value.
struct HeartbeatState {
    /// A write that took longer is not worth being called ready.
    static let limit: Duration = .seconds(5)
    private var succeededAt: ContinuousClock.Instant?
    private var failure: String?

    /// Whether the write before failed.
    @discardableResult
    mutating func succeeded(now: ContinuousClock.Instant) -> Bool {
        defer { failure = nil }
        succeededAt = now
        return failure != nil
    }

    /// Whether that is another failure than before.
    mutating func failed(_ reason: String) -> Bool {
        defer { failure = reason }
        return failure != reason
    }

    func fault(now: ContinuousClock.Instant) -> String? {
        if let failure { return failure }
        guard let succeededAt else { return "nothing was written yet" }
        guard now - succeededAt > HeartbeatState.limit else { return nil }
        return "the database has not taken a write for \((now - succeededAt).components.seconds) s"
    }

    /// What libpq says of a connection that failed, without hosts, users and databases: anybody may read it.
    static func cause(_ message: String) -> String {
        let cause = message.firstRange(of: " failed: ").map { message[$0.upperBound...] } ?? message[...]
        return String(cause).replacing("FATAL:  ", with: "").replacing(/"[^"]*"/, with: "…")
    }

    static func reason(_ error: any Error, isCommitting: Bool) -> String {
        guard let error = error as? PostgresError else { return "the write was interrupted" }
        switch error.code.rawValue {
        case "53100", "58030": return "the database cannot write to its disk, which is probably full"
        case "25006": return "the database is read-only"
        case "55P03", "57014": return "an earlier commit is not finished: the synchronous standby is probably away"
        case PostgresError.Code.callTimeout.rawValue where isCommitting:
            return "a commit is not answered: the database hangs, or its synchronous standby is away"
        case PostgresError.Code.callTimeout.rawValue: return "the database does not answer"
        case "42501", "42P01": return "the role may not write instances: run `pushwatch migrate`"
        default: return error.isConnectionLoss ? "the database cannot be reached" : "writing fails with SQLSTATE \(error.code.rawValue)"
        }
    }
}

extension PostgresError: WatchedOutage {
    /// What the heartbeat meets, too. Not a statement that was not answered in time, nor a full pool: those may concern one task alone.
    package var isWatchedOutage: Bool {
        isConnectionLoss && code != .callTimeout || code == .readOnlyTransaction || ["53100", "58030"].contains(code.rawValue)
    }
}
