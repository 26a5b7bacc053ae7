import ArgumentParser
import Attempts
import Audit
import CommandLineKit
import Foundation
import HTTPServer
import Logging
import Postgres
import PushContract
import Server
import Synchronization
import UnixSignals

/// `pushwatch attempts import FILE`
struct AttemptsImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import older attempts from NDJSON, plain or gzip.",
        discussion: """
            A line is one attempt in the form of POST /attempts. Attempts older than the retention (90 days, `attempts.retentionDays`) are \
            rejected. An interrupted import (Ctrl-C, a lost database) continues where it stopped when it is run again; a completed one \
            adds nothing. Rejected lines are written to FILE.rejects.ndjson with their number and the reason.
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Argument(help: "The file.") var file: String
    @Option(help: "Who imports it.") var author: String = NSUserName()
    @Flag(help: "Begin at the first line, even if an earlier import of the file stopped later.") var restart = false

    func run() async throws {
        LogBootstrap.bootstrap(level: .warning)
        let configuration = try await options.load()
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file, isDirectory: &isDirectory) else {
            throw CommandFailure.environment("There is no file \(file).")
        }
        guard !isDirectory.boolValue else {
            throw CommandFailure.environment("\(file) is a directory. Name a file of NDJSON, plain or gzip.")
        }
        let lock = try ImportLock(path: file)
        defer { withExtendedLifetime(lock) {} }
        // It makes partitions of older days.
        let pool = PostgresPool(
            configuration: configuration.postgres(configuration.adminDatabaseURL, maxConnections: 2, applicationName: "pushwatch import"),
            logger: Logger(label: "import")
        )
        defer { pool.close() }
        do {
            let plan = configuration.partitionPlan
            let maintenance = PartitionMaintenance(pool: pool, plan: plan, logger: Logger(label: "partitions"))
            let labels = try await configuration.labelLimiter(on: pool)
            let importer = AttemptImporter(pool: pool, maintenance: maintenance, plan: plan, labels: labels)
            try await run(importer, recording: AuditRecorder(by: author))
        } catch let failure as AttemptImporter.FileFailure {
            throw CommandFailure.check(
                "\(file): \(failure). Everything before that is stored; import the complete file, and only the rest is added."
            )
        } catch let error as PostgresError where error.isUnavailable && error.code != .readOnlyTransaction {
            throw CommandFailure.environment(
                "The database cannot be reached: \(error.message). Run the import again: it continues where it stopped, and nothing is stored twice."
            )
        }
    }

    private func run(_ importer: AttemptImporter, recording audit: AuditRecorder) async throws {
        let checkpoint = restart ? nil : try await importer.checkpoint(of: file)
        if let checkpoint { Terminal.printError("Continuing after line \(checkpoint.lines), where the last import of this file stopped.") }
        let rejects = try RejectFile(path: file + ".rejects.ndjson", keepingLines: checkpoint?.lines ?? 0)
        let size = (try? FileManager.default.attributesOfItem(atPath: file)[.size] as? Int) ?? 0
        let start = ContinuousClock.now
        let result = try await StopSignal.listening { stop in
            try await importer.run(
                path: file,
                from: checkpoint,
                now: Timestamp.now,
                shouldStop: { stop.isRaised },
                onReject: rejects.append,
                onProgress: { progress in Terminal.progress(progress.line(of: size, since: start, from: checkpoint)) },
                // Only then is known what it came to. An import that is killed continues when it is run again, and ends then.
                onEnd: { [file] result, connection in
                    try audit.note(
                        .importAttempts,
                        file,
                        result.notes(from: checkpoint),
                        after: result.counts(from: checkpoint),
                        on: connection
                    )
                }
            )
        }
        Terminal.progress(result.line(of: size, since: start, from: checkpoint), isLast: true)
        guard result.isComplete else {
            throw CommandFailure(
                message: "Stopped after line \(result.lines). Run it again to continue from there.",
                code: Interruption.exitCode
            )
        }
        if result.rejected + result.conflict > 0 {
            throw CommandFailure.check("\(result.rejected + result.conflict) lines were not stored; see \(rejects.path)")
        }
    }
}

/// Ctrl-C and SIGTERM as a flag, which long work reads between its steps.
private final class StopSignal: Sendable {
    private let state = Mutex(false)

    var isRaised: Bool { state.withLock { $0 } }

    static func listening<Value: Sendable>(_ body: (StopSignal) async throws -> Value) async throws -> Value {
        let signal = StopSignal()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: [.sigint, .sigterm]) { signal.state.withLock { $0 = true } }
            }
            defer { group.cancelAll() }
            return try await body(signal)
        }
    }
}

extension AttemptImporter.Progress {
    /// Counts are of the whole file, with what earlier runs stored.
    fileprivate func line(
        of size: Int,
        since start: ContinuousClock.Instant,
        from checkpoint: AttemptImporter.Progress?
    ) -> String {
        let seconds = max((ContinuousClock.now - start).inSeconds, 0.001)
        let share = isComplete ? "100 %" : size > 0 ? "\(min(100, bytes * 100 / size)) %" : "–"
        let run = checkpoint.map { " (of the whole file; this run: \(accepted - $0.accepted) new)" } ?? ""
        return "\(share)  \(lines) lines, \(accepted) new, \(duplicate) known, \(advanced) advanced, \(conflict + rejected) refused, "
            + "\(Int(Double(lines - (checkpoint?.lines ?? 0)) / seconds))/s\(run)"
    }

    /// What this run came to, for the audit: an earlier one that stopped has an entry of its own.
    fileprivate func counts(from checkpoint: AttemptImporter.Progress?) -> [String: Int] {
        [
            "accepted": accepted - (checkpoint?.accepted ?? 0), "advanced": advanced - (checkpoint?.advanced ?? 0),
            "duplicate": duplicate - (checkpoint?.duplicate ?? 0),
        ]
    }

    /// With the counts of the whole file, since an earlier run that was killed has no entry.
    fileprivate func notes(from checkpoint: AttemptImporter.Progress?) -> String {
        var notes: [String] = []
        if let checkpoint {
            notes.append("continued after line \(checkpoint.lines)")
            notes.append("the whole file: \(accepted) accepted, \(advanced) advanced, \(duplicate) duplicate")
        }
        if !isComplete { notes.append("stopped after line \(lines)") }
        return notes.joined(separator: "; ")
    }
}
