import Attempts
import Logging
import Postgres

/// The database: connections to it, and what watches and maintains it.
struct DatabaseParts: Sendable {
    let pools: DatabasePools
    let admin: PostgresPool
    let heartbeat: DatabaseHeartbeat
    /// Nil without a replica to read pages and backtests from.
    let replica: ReplicaWatch?
    let maintenance: PartitionMaintenance

    init(_ configuration: ServerConfiguration, logger: Logger) {
        let pools = DatabasePools(
            url: configuration.databaseURL,
            readersURL: configuration.readersURL,
            total: configuration.databaseConnections,
            preparesStatements: configuration.preparesStatements,
            logger: logger
        )
        self.pools = pools
        admin = DatabasePools.admin(
            configuration.postgres(configuration.adminDatabaseURL, applicationName: "pushwatch admin"),
            logger: logger
        )
        heartbeat = DatabaseHeartbeat(pool: pools.health, writers: pools.ingest, logger: logger)
        replica = pools.replica.map {
            ReplicaWatch(pool: $0, primary: pools.readers, mostLag: configuration.readersLag, logger: logger)
        }
        maintenance = PartitionMaintenance(pool: admin, plan: configuration.partitionPlan, logger: logger)
    }
}
