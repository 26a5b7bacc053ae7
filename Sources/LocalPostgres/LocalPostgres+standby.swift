import Foundation
package import Logging
import Postgres

extension LocalPostgres {
    /// Makes a standby of `primary` (`pg_basebackup`) and starts it: it follows until it is promoted. For tests of a fail-over; the
    /// primary must let walsenders in (`wal_level = replica`, `max_wal_senders` above 0).
    package static func startStandby(
        of primary: LocalPostgres,
        _ configuration: LocalPostgresConfiguration,
        logger: Logger
    ) async throws -> LocalPostgres {
        let directory = try await ClusterDirectory.prepare(configuration)
        guard let lock = DirectoryLock(path: directory.lock) else {
            throw LocalPostgresError(.inUse, "another process runs the database in \(directory.path)")
        }
        let binaries = try await PostgresBinaries.find(major: nil)
        try directory.write(primary.password + "\n", to: directory.passwordFile)
        let backup = ServerCommand(
            program: binaries.path("pg_basebackup"),
            arguments: [
                "-D", directory.data, "-d", primary.socketURL(database: "postgres"), "--write-recovery-conf", "--wal-method=stream",
                "--checkpoint=fast",
            ],
            user: directory.user
        )
        try await backup.run()
        let starter = ClusterStarter(directory: directory, binaries: binaries, configuration: configuration, logger: logger)
        return LocalPostgres(directory: directory, settings: try await starter.run(), lock: lock)
    }
}
