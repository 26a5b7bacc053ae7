import ArgumentParser
import Attempts
import Foundation
import Logging
import Observability
import Postgres
import PushContract
import PushwatchServer

/// `pushwatch fsck`
struct FsckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fsck",
        abstract: "Check what is stored: one row per id, ledger and rollups that agree, no gap, no raw token.",
        discussion: """
            Safe beside live traffic: small statements over closed minutes. What looks wrong is looked at twice. Prints a line per check
            and exits with 1 if anything is off.
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "How many days of attempts to go through.") var days = 16
    @Flag(help: "Print the report as one JSON object.") var json = false

    func validate() throws {
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
            let report = try await AttemptFsck(pool: pool, days: Int64(days), now: .now()).run { progress in
                guard Terminal.isInteractive else { return }
                Terminal.progress("\(progress.check.rawValue)  \(progress.done)/\(progress.total)")
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
            Terminal.say(String(decoding: try encoder.encode(report), as: UTF8.self))
            return
        }
        for line in report.lines {
            Terminal.say("\(line.faultCount == 0 ? "ok  " : "OFF ") \(line.check.promise) (\(line.examined))")
            for fault in line.faults { Terminal.say("       \(fault)") }
            if line.faultCount > line.faults.count { Terminal.say("       … and \(line.faultCount - line.faults.count) more") }
        }
    }
}
