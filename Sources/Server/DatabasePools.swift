import Delivery
import Logging
import Postgres

/// Connections by what they are for, each class with a bound and time limits of its own: none can take those of another.
struct DatabasePools: Sendable {
    /// What callers ask to be stored: attempts, sends, devices, follows, and their keys.
    let ingest: PostgresPool
    let sending: PostgresPool
    let alerting: PostgresPool
    let live: PostgresPool
    /// The heartbeat and readiness.
    let health: PostgresPool
    /// GET requests for attempts and alerts, and the pages with who is signed in to them.
    let readers: PostgresPool
    /// Backtests and which apps are usual: long reads that nobody waits for, one at a time, so that they take nothing from what evaluates
    /// rules and notifies.
    let history: PostgresPool
    /// On a replica, for the pages and backtests. As many as `readers`, which serve when it may not be read.
    let replica: PostgresPool?

    var all: [PostgresPool] { [ingest, sending, alerting, live, health, readers, history] + [replica].compactMap(\.self) }

    /// An instance that is stopped in the middle of a transaction keeps the others waiting for its locks for so long.
    private static let idleTransactionTimeout = Duration.seconds(5)

    /// - Parameters:
    ///   - readersURL: of a replica.
    ///   - total: connections of all classes together, to the primary.
    init(url: String, readersURL: String? = nil, total: Int, preparesStatements: Bool = true, logger: Logger) {
        let sizes = Sizes(total: total)
        // Copies share what one learns about the hosts of the string.
        let configuration = PostgresConfiguration(url: url, preparesStatements: preparesStatements)
        func pool(
            _ name: String,
            _ size: Int,
            statement: Duration,
            connect: Int = 3,
            acquire: Duration = .seconds(5),
            byIndex: Bool = false,
            of database: PostgresConfiguration? = nil
        ) -> PostgresPool {
            var own = database ?? configuration
            own.applicationName = "pushwatch \(name)"
            own.maxConnections = size
            own.connectTimeoutSeconds = connect
            own.acquireTimeout = acquire
            own.statementTimeout = statement
            own.callTimeout = statement + .seconds(1)
            own.looksUpByIndex = byIndex
            own.idleTransactionTimeout = Self.idleTransactionTimeout
            return PostgresPool(configuration: own, logger: logger)
        }
        // With these a hung primary is left within 10 s where requests wait, and within 16 s elsewhere.
        ingest = pool("ingest", sizes.ingest, statement: .seconds(6), byIndex: true)
        sending = pool("sending", sizes.sending, statement: .seconds(15), byIndex: true)
        alerting = pool("alerting", sizes.alerting, statement: .seconds(30))
        live = pool("live", sizes.live, statement: .seconds(15), byIndex: true)
        health = pool("health", sizes.health, statement: .seconds(2), connect: 2)
        readers = pool("readers", sizes.readers, statement: .seconds(5))
        history = pool("history", sizes.history, statement: .seconds(30), acquire: .seconds(60))
        replica = readersURL.map {
            let configuration = PostgresConfiguration(url: $0, preparesStatements: preparesStatements)
            return pool("replica", sizes.readers, statement: .seconds(5), connect: 2, of: configuration)
        }
    }

    /// For partitions and analysts' sessions. The rotation of the ledger locks out all writers of attempts: not for long if its instance is
    /// stopped meanwhile.
    static func admin(_ configuration: PostgresConfiguration, logger: Logger) -> PostgresPool {
        var own = configuration
        own.maxConnections = 2
        own.idleTransactionTimeout = idleTransactionTimeout
        return PostgresPool(configuration: own, logger: logger)
    }

    /// How the connections of an instance are divided.
    struct Sizes: Equatable {
        static let least = 19
        static let usual = 35
        var ingest = EnqueueService.leastConnections
        var sending = 3
        var live = 2
        var readers = 2
        var alerting = 2
        let health = 2
        let history = 1

        /// The rest beyond the least is shared 3 : 5 : 3 : 3 : 2.
        init(total: Int) {
            let rest = max(0, total - Sizes.least)
            ingest += rest * 3 / 16
            sending += rest * 5 / 16
            live += rest * 3 / 16
            readers += rest * 3 / 16
            alerting += rest * 2 / 16
        }
    }
}
