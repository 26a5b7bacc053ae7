import Attempts
import Foundation
import HTTPServer
import Logging
import Postgres
import ServiceLifecycle
import Synchronization

/// Delays work until the database can be reached and its schema fits. Until then `/health/ready` responds with 503.
final class DatabaseGate: Service, Sendable {
    private struct State {
        /// Nil until it is known.
        var mayWork: Bool?
        var waiting: [UUID: CheckedContinuation<Bool, Never>] = [:]
        var released: Set<UUID> = []
    }

    private let check: DatabaseCheck
    private let migrator: Migrator
    private let maintenance: PartitionMaintenance
    private let health: Health
    private let heartbeat: DatabaseHeartbeat
    private let migrates: Bool
    private let logger: Logger
    private let onOpen: @Sendable () async throws -> Void
    private let state = Mutex(State())

    init(
        check: DatabaseCheck,
        migrator: Migrator,
        maintenance: PartitionMaintenance,
        health: Health,
        heartbeat: DatabaseHeartbeat,
        migrates: Bool,
        logger: Logger,
        onOpen: @escaping @Sendable () async throws -> Void
    ) {
        self.check = check
        self.migrator = migrator
        self.maintenance = maintenance
        self.health = health
        self.heartbeat = heartbeat
        self.migrates = migrates
        self.logger = logger
        self.onOpen = onOpen
    }

    func run() async throws {
        // When the schema does not fit, the error ends the group, which lets each waiting service go in its turn.
        do {
            try await wait()
        } catch is CancellationError {
            // Shut down before the database could be reached: that is no error.
        }
        // So that a server without its database can stop.
        settle(mayWork: false)
    }

    private func wait() async throws {
        try await cancelWhenGracefulShutdown { [self] in
            var failures = 0
            var isChecked = false
            while true {
                do {
                    if !isChecked { try await check.run() }
                    isChecked = true
                    try await prepare()
                    break
                } catch let error as PostgresError where error.isUnavailable {
                    failures += 1
                    heartbeat.waits(because: error)
                    logger.warning("waiting for the database", metadata: ["error": "\(error.message)", "tries": "\(failures)"])
                    try await Task.sleep(for: .seconds(min(5, failures)))
                }
            }
            health.markStarted()
            settle(mayWork: true)
            logger.info("the database can be reached")
            try await gracefulShutdown()
        }
    }

    /// Returns true when work may begin, false when it never will: this caller shuts down, or the gate failed.
    func pass() async -> Bool {
        let waiter = UUID()
        // Services end one by one, in the reverse order of starting: each that waits here is let go alone, and before the gate ends.
        return await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await decision(for: waiter)
            } onGracefulShutdown: {
                self.release(waiter)
            }
        } onCancel: {
            release(waiter)
        }
    }

    private func decision(for waiter: UUID) async -> Bool {
        await withCheckedContinuation { continuation in
            let mayWork: Bool? = state.withLock { state in
                if let mayWork = state.mayWork { return mayWork }
                if state.released.contains(waiter) { return false }
                state.waiting[waiter] = continuation
                return nil
            }
            if let mayWork { continuation.resume(returning: mayWork) }
        }
    }

    private func release(_ waiter: UUID) {
        let continuation = state.withLock { state in
            state.released.insert(waiter)
            return state.waiting.removeValue(forKey: waiter)
        }
        continuation?.resume(returning: false)
    }

    private func prepare() async throws {
        if migrates { try await migrator.migrate() }
        let missing = try await migrator.status().filter { $0.appliedAt == nil }
        guard missing.isEmpty else {
            throw ConfigurationError(
                "The database lacks \(missing.count) migrations, from \(missing[0].name). Run `pushwatch migrate`, or serve with --migrate."
            )
        }
        let programs = try await migrator.programs()
        logger.notice(
            "programs from the oldest on may share the database; each is named by the newest migration that it knows",
            metadata: ["oldest": "\(programs.oldestName)", "this": "\(programs.ownName)", "schema": "\(programs.newestName)"]
        )
        do {
            try await maintenance.maintain()
        } catch let error as PostgresError where !error.isUnavailable {
            // Those of the next days usually exist, and the maintenance tries again. Attempts without a partition are refused with 503.
            logger.error("partitions could not be maintained; tried again every minute", metadata: ["error": "\(error)"])
        }
        try await onOpen()
    }

    /// The first result counts.
    private func settle(mayWork: Bool) {
        let waiting = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            guard state.mayWork == nil else { return [] }
            state.mayWork = mayWork
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: mayWork) }
    }
}

/// A service that begins once the database is there.
struct DatabaseDependentService: Service {
    let gate: DatabaseGate
    let service: any Service

    func run() async throws {
        if await gate.pass() { try await service.run() }
    }
}
