package import Devices
package import Postgres
import PushContract

/// The durable queue in PostgreSQL: what was asked for, what is waiting, what is being sent, what came of it.
///
/// Every step is one statement or one transaction; the database's clock alone decides leases and due times. Safe to use from any task
/// and any number of processes.
package struct SendStore: Sendable {
    let pool: PostgresPool
    /// Writes attempts in the transaction that releases their lease.
    let record: AttemptRecorder

    package init(pool: PostgresPool, record: @escaping AttemptRecorder) {
        self.pool = pool
        self.record = record
    }
}
