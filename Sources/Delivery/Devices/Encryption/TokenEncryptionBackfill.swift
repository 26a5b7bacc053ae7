package import Logging
package import Postgres
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Encrypts tokens that were stored before tokens were encrypted, once, in the background. Reads take them either way.
package struct TokenEncryptionBackfill: Service {
    private let pool: PostgresPool
    private let keySet: TokenKeySet
    private let now: @Sendable () -> Timestamp
    private let logger: Logger

    package init(
        pool: PostgresPool,
        keySet: TokenKeySet,
        now: @escaping @Sendable () -> Timestamp = { .now() },
        logger: Logger
    ) {
        self.pool = pool
        self.keySet = keySet
        self.now = now
        self.logger = logger
    }

    package func run() async throws {
        try await PeriodicService("token encryption", every: .seconds(60), logger: logger, state: false) { isDone in
            if !isDone { isDone = await encryptAll() }
        }.run()
    }

    /// True when nothing is left to do.
    package func encryptAll() async -> Bool {
        do {
            let store = TokenKeyStore(pool)
            for column in EncryptedColumn.all where try await !store.isEncrypted(column) {
                let report = try await TokenReencrypter(pool: pool, keySet: keySet, onlyClear: true).run(columns: [column])
                guard report.unreadable == 0 else {
                    logger.error(
                        "some stored tokens cannot be encrypted",
                        metadata: ["column": "\(column.name)", "tokens": "\(report.unreadable)"]
                    )
                    continue
                }
                try await store.markEncrypted(column, now: now())
                if report.reencrypted > 0 {
                    logger.notice(
                        "stored tokens were encrypted",
                        metadata: ["column": "\(column.name)", "tokens": "\(report.reencrypted)"]
                    )
                }
            }
            return true
        } catch is CancellationError {
            return true
        } catch {
            logger.log(
                level: .warning.unlessOutage(error),
                "stored tokens could not be encrypted; trying again",
                metadata: ["error": "\(error)"]
            )
            return false
        }
    }
}
