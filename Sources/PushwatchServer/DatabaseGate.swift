import Attempts
import Logging
import Observability
import Postgres
import ServiceLifecycle
import Synchronization

/// Holds work back until the database is there and its schema fits. Meanwhile the listener answers `/health/ready` with 503.
final class DatabaseGate: Service, Sendable {
    private let pool: PostgresPool
    private let migrator: Migrator
    private let keeper: PartitionKeeper
    private let health: Health
    private let migrates: Bool
    private let logger: Logger
    private let onOpen: @Sendable () async throws -> Void
    private let state = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    init(
        pool: PostgresPool,
        migrator: Migrator,
        keeper: PartitionKeeper,
        health: Health,
        migrates: Bool,
        logger: Logger,
        onOpen: @escaping @Sendable () async throws -> Void
    ) {
        self.pool = pool
        self.migrator = migrator
        self.keeper = keeper
        self.health = health
        self.migrates = migrates
        self.logger = logger
        self.onOpen = onOpen
    }

    func run() async throws {
        try await cancelWhenGracefulShutdown { [self] in
            var failures = 0
            while true {
                do {
                    try await prepare()
                    break
                } catch let error as PostgresError where error.isUnavailable {
                    failures += 1
                    logger.warning("waiting for the database", metadata: ["error": "\(error.message)", "tries": "\(failures)"])
                    try await Task.sleep(for: .seconds(min(5, failures)))
                }
            }
            open()
            logger.info("the database is there")
            try await gracefulShutdown()
        }
        open()
    }

    /// Returns when work may begin; at shutdown too, so that nobody hangs here.
    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    private func prepare() async throws {
        if migrates {
            for applied in try await migrator.migrate() { logger.info("migration applied", metadata: ["name": "\(applied.name)"]) }
        }
        let missing = try await migrator.status().filter { $0.appliedAt == nil }
        guard missing.isEmpty else {
            throw ConfigurationError(
                "The database lacks \(missing.count) migrations, from \(missing[0].name). Run `pushwatch migrate`, or serve with --migrate."
            )
        }
        try await keeper.keep()
        try await onOpen()
    }

    private func open() {
        health.markStarted()
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// A service that begins once the database is there.
struct AfterDatabase: Service {
    let gate: DatabaseGate
    let service: any Service

    func run() async throws {
        await gate.pass()
        try await service.run()
    }
}
