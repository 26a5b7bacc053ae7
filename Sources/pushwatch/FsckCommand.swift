import Alerting
import ArgumentParser
import Attempts
import CommandLineKit
import Delivery
import Foundation
import LiveActivities
import Logging
import Postgres
import PushContract
import Server

/// `pushwatch fsck`
struct FsckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fsck",
        abstract: "Check what is stored: one row per attemptId, ledger and rollups that agree, no gap, no raw token, no orphan.",
        discussion: """
            Safe next to live traffic: small statements over closed minutes. What looks wrong is checked twice. Prints a line for each check, \
            and exits with 1 if one fails. Checks: \(FsckCommand.checks.map(\.name).joined(separator: ", ")).
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "How far back attempts are checked; 16d unless given.", transform: CommandDuration.within(.days(1)...(.days(400))))
    var since = CommandDuration.days(16)
    @Option(help: "Only this check; repeatable.") var check: [String] = []
    @Flag(help: "Print the report as one JSON object.") var json = false

    /// Each feature has its own checks; this is all of them.
    static let checks: [any FsckCheck] = Fsck.attempts + [EncryptedTokensCheck(), QueueCheck(), LiveActivitiesCheck()] + AlertingChecks.all

    func validate() throws {
        let known = FsckCommand.checks.map(\.name)
        for name in check where !known.contains(name) {
            throw ValidationError("--check: unknown check \"\(name)\"; expected one of \(known.joined(separator: ", ")).")
        }
    }

    func run() async throws {
        try await options.withPool(connections: 1, asOwner: true, logLevel: .warning) { pool, configuration in
            let checks = FsckCommand.checks.filter { check.isEmpty || check.contains($0.name) }
            let fsck = Fsck(checks, pool: pool, plan: configuration.partitionPlan, days: since.days, now: .now())
            let report = try await fsck.run { progress in
                guard Terminal.isInteractive else { return }
                Terminal.progress("\(progress.check)  \(progress.done)/\(progress.total)")
            }
            if Terminal.isInteractive { Terminal.progress("") }
            try print(report)
            if !report.isClean { throw CommandFailure.check("A check failed; see above and docs/operations.md.") }
        }
    }

    private func print(_ report: FsckReport) throws {
        guard !json else {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Terminal.printLine(String(decoding: try encoder.encode(report), as: UTF8.self))
        }
        for line in report.lines {
            Terminal.printLine("\(line.faultCount == 0 ? "ok   " : "FAIL ") \(line.promise) (\(line.examined))")
            for fault in line.faults { Terminal.printLine("       \(fault)") }
            if line.faultCount > line.faults.count { Terminal.printLine("       … and \(line.faultCount - line.faults.count) more") }
            if let note = line.note { Terminal.printLine("     \(note)") }
        }
    }
}
