import Access
import Attempts
import CommandLineKit
import Delivery
import Foundation
import HTTPServer
import LocalPostgres
import Logging
import Postgres
import PushContract

/// A local installation, ready to be served: a migrated database, an API key, an issuer of user tokens, the demo's history.
struct LocalInstallation: Sendable {
    let directory: String
    let postgres: LocalPostgres
    let migrations: String
    let alerts: String
    /// Every scope; made once and kept in the state directory.
    let apiKey: String
    let apiKeyId: String
    let issuer: DemoIssuer
    /// Made once and kept in the state directory.
    let tokenKeys: TokenKeySet

    static func prepare(directory: String, postgres: LocalPostgres, empty: Bool, logger: Logger) async throws -> LocalInstallation {
        let migrations = try ProjectFiles.locate("sql/migrations")
        let alerts = try ProjectFiles.locate("alerts")
        let configuration = PostgresConfiguration(url: postgres.socketURL, maxConnections: 3, applicationName: "pushwatch-dev up")
        do {
            _ = try await Migrator(configuration: configuration, directory: migrations, logger: logger).migrate()
        } catch let error as MigrationError where error.kind == .earlierSchema {
            throw CommandFailure.check(
                "\(directory) holds the database of an earlier development version, which cannot be upgraded. Delete it and start again."
            )
        } catch let error as MigrationError {
            throw CommandFailure.check(error.message)
        }
        let pool = PostgresPool(configuration: configuration, logger: logger)
        defer { pool.close() }
        let maintenance = PartitionMaintenance(pool: pool, logger: logger)
        try await maintenance.maintain()
        if !empty { try await DemoLoading(directory: directory, pool: pool, maintenance: maintenance).loadOnce(now: .now()) }
        let key = try await apiKey(directory: directory, pool: pool)
        return LocalInstallation(
            directory: directory,
            postgres: postgres,
            migrations: migrations,
            alerts: alerts,
            apiKey: key.text,
            apiKeyId: key.id,
            issuer: try DemoIssuer(directory: directory),
            tokenKeys: try tokenKeys(directory: directory)
        )
    }

    var tokenKeysFile: String { LocalInstallation.tokenKeysFile(directory) }

    private static func tokenKeysFile(_ directory: String) -> String { directory + "/token-keys" }

    private static func tokenKeys(directory: String) throws -> TokenKeySet {
        let path = tokenKeysFile(directory)
        if !FileManager.default.fileExists(atPath: path) { try PrivateFile.write(TokenKeySet.line(id: "k1") + "\n", to: path) }
        do {
            return try TokenKeySet(parsing: String(contentsOfFile: path, encoding: .utf8))
        } catch {
            throw CommandFailure.environment("The token keys in \(path) cannot be used: \(error)")
        }
    }

    private static func apiKey(directory: String, pool: PostgresPool) async throws -> (text: String, id: String) {
        let path = LocalSettings(directory: directory).keyFile
        let store = APIKeyStore(pool)
        if let kept = try? String(contentsOfFile: path, encoding: .utf8), let text = APIKeyText(kept), try await store.find(text) != nil {
            return (text.text, text.id)
        }
        let made = try await store.create(
            name: "pushwatch-dev up",
            scopes: Set(Scope.allScopes),
            createdBy: "pushwatch-dev up",
            now: .now()
        )
        try PrivateFile.write(made.text.text, to: path)
        return (made.text.text, made.key.id)
    }
}

/// Loads the demo's history once per installation, through the import that everybody uses.
struct DemoLoading {
    let directory: String
    let pool: PostgresPool
    let maintenance: PartitionMaintenance

    func loadOnce(now: Timestamp) async throws {
        let marker = directory + "/demo-history.loaded"
        guard !FileManager.default.fileExists(atPath: marker) else { return }
        let end = try historyEnd(now: now)
        let file = directory + "/demo-history.ndjson"
        Terminal.progress("Generating \(DemoHistory.days) days of demo history …")
        let total = try DemoHistory(now: end).write(to: file)
        let start = ContinuousClock.now
        let result = try await AttemptImporter(pool: pool, maintenance: maintenance).run(
            path: file,
            now: Timestamp.now,
            onReject: { reject in
                // A database that outlived its state directory has another demo's attempts under the same ids, which do as well.
                guard reject.code != "attempt_conflict" else { return }
                throw CommandFailure.check("demo history, line \(reject.line): \(reject.detail)")
            },
            onProgress: { Terminal.progress("Importing demo history: \($0.lines) of \(total) attempts") }
        )
        let seconds = Int((ContinuousClock.now - start).inSeconds.rounded(.up))
        Terminal.progress("Imported \(result.accepted) attempts of demo history in \(seconds) s (uids begin with demo-)", isLast: true)
        try await pool.analyze()
        try FileManager.default.removeItem(atPath: file)
        try PrivateFile.write(now.rfc3339 + "\n", to: marker)
    }

    /// The moment the history ends. Kept, so that an interrupted import continues with the same history.
    private func historyEnd(now: Timestamp) throws -> Timestamp {
        let path = directory + "/demo-history.end"
        if let text = try? String(contentsOfFile: path, encoding: .utf8), let kept = Timestamp(rfc3339: text) { return kept }
        try PrivateFile.write(now.rfc3339, to: path)
        return now
    }
}
