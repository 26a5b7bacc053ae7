import Alerting
import ArgumentParser
import Attempts
import Foundation
import LiveActivities
import Logging
import HTTPServer
import Postgres
import PushContract
import Server
import Delivery

/// `pushwatch fsck`
struct FsckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fsck",
        abstract: "Check what is stored: one row per id, ledger and rollups that agree, no gap, no raw token, no orphan.",
        discussion: """
            Safe beside live traffic: small statements over closed minutes. What looks wrong is looked at twice. Prints a line per check \
            and exits with 1 if anything is off. Checks: \(FsckCommand.checks.map(\.name).joined(separator: ", ")).
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "How many days of attempts to go through.") var days = 16
    @Option(help: "Only this check; may be given several times.") var only: [String] = []
    @Flag(help: "Print the report as one JSON object.") var json = false

    /// A feature's checks are its own; here they are put together.
    static let checks: [any FsckCheck] = Fsck.attempts + [EncryptedTokensCheck(), QueueCheck(), LiveActivitiesCheck()] + AlertingChecks.all

    func validate() throws {
        let known = FsckCommand.checks.map(\.name)
        for name in only where !known.contains(name) {
            throw ValidationError("`\(name)` is not a check; there are \(known.joined(separator: ", ")).")
        }
        guard (1...400).contains(days) else { throw ValidationError("--days must be between 1 and 400.") }
    }

    func run() async throws {
        LogBootstrap.bootstrap(level: .warning)
        let configuration = try await options.load()
        let pool = PostgresPool(
            configuration: PostgresConfiguration(url: configuration.databaseURL, maxConnections: 1, applicationName: "pushwatch fsck"),
            logger: Logger(label: "fsck")
        )
        defer { pool.close() }
        do {
            let checks = FsckCommand.checks.filter { only.isEmpty || only.contains($0.name) }
            let fsck = Fsck(checks, pool: pool, plan: configuration.partitionPlan, days: Int64(days), now: .now())
            let report = try await fsck.run { progress in
                guard Terminal.isInteractive else { return }
                Terminal.progress("\(progress.check)  \(progress.done)/\(progress.total)")
            }
            if Terminal.isInteractive { Terminal.progress("") }
            try print(report)
            if !report.isClean { throw CommandFailure.check("Something is off; see above and docs/operations.md.") }
        } catch let error as PostgresError where error.isUnavailable {
            throw CommandFailure.environment("The database cannot be reached: \(error.message)")
        } catch let error as PostgresError where error.code == .undefinedTable {
            throw CommandFailure.check("The database has no schema yet. Run `pushwatch migrate`.")
        }
    }

    private func print(_ report: FsckReport) throws {
        guard !json else {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Terminal.printLine(String(decoding: try encoder.encode(report), as: UTF8.self))
        }
        for line in report.lines {
            Terminal.printLine("\(line.faultCount == 0 ? "ok  " : "OFF ") \(line.promise) (\(line.examined))")
            for fault in line.faults { Terminal.printLine("       \(fault)") }
            if line.faultCount > line.faults.count { Terminal.printLine("       … and \(line.faultCount - line.faults.count) more") }
            if let note = line.note { Terminal.printLine("     \(note)") }
        }
    }
}
