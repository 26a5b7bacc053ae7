import ArgumentParser
import Attempts
import Foundation
import Logging
import HTTPServer
import Postgres
import PushContract
import Server

/// `pushwatch attempts tail`
struct AttemptsTailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show the newest attempts, and with --follow those that come.",
        discussion: "Reads the database; the newest line is the last. Reports that come in late are followed, too."
    )

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Only this person's.") var uid: String?
    @Option(help: "Only those that failed for this reason: \(ReasonCode.allCases.map(\.rawValue).joined(separator: ", ")).") var reason:
        String?
    @Option(help: "How many lines to begin with.") var lines = 20
    @Flag(name: .shortAndLong, help: "Go on until Ctrl-C.") var follow = false
    @Flag(help: "Print each attempt as one line of JSON, in the form of POST /attempts.") var json = false

    func validate() throws {
        guard (0...10_000).contains(lines) else { throw ValidationError("--lines must be between 0 and 10000.") }
        guard reason == nil || reason.flatMap(ReasonCode.init) != nil else { throw ValidationError("`\(reason ?? "")` is not a reason.") }
    }

    func run() async throws {
        LogBootstrap.bootstrap(level: .error)
        let configuration = try await options.load()
        let pool = PostgresPool(
            configuration: PostgresConfiguration(url: configuration.databaseURL, maxConnections: 1, applicationName: "pushwatch tail"),
            logger: Logger(label: "tail")
        )
        defer { pool.close() }
        let filter = AttemptTail.Filter(uid: uid, reason: reason.flatMap(ReasonCode.init))
        // A person's attempts have an index; everybody's are searched backwards, which ends at a day.
        let days: Int64 = uid == nil ? 1 : 7
        var tail = AttemptTail(filter: filter, since: .now() - .seconds(days * 86_400))
        do {
            let newest = try await tail.last(lines, now: .now(), on: pool)
            try show(newest)
            if newest.isEmpty, lines > 0 { Terminal.printError("None within the last \(days == 1 ? "day" : "\(days) days").") }
            if follow { try await go(on: &tail, pool) }
        } catch let error as PostgresError where error.isUnavailable {
            throw CommandFailure.environment("The database cannot be reached: \(error.message)")
        } catch let error as PostgresError where error.code == .undefinedTable {
            throw CommandFailure.check("The database has no schema yet. Run `pushwatch migrate`.")
        }
    }

    /// A round a second. A database that goes away is waited for: nothing that came meanwhile is left out.
    private func go(on tail: inout AttemptTail, _ pool: PostgresPool) async throws {
        var isAway = false
        while true {
            try await Task.sleep(for: .seconds(1))
            do {
                let new = try await tail.next(now: .now(), on: pool)
                if isAway { Terminal.printError("… the database is back") }
                isAway = false
                try show(new)
                if new.count == AttemptTail.roundLimit {
                    Terminal.printError("… more than \(new.count) a second; narrow it with --uid or --reason")
                }
            } catch let error as PostgresError where error.isUnavailable {
                if !isAway { Terminal.printError("… the database cannot be reached, waiting for it: \(error.message)") }
                isAway = true
            }
        }
    }

    private func show(_ attempts: [Attempt]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for attempt in attempts {
            Terminal.printLine(json ? String(decoding: try encoder.encode(attempt), as: UTF8.self) : attempt.line)
        }
    }
}

extension Attempt {
    /// When, whose, what became of it, and why.
    fileprivate var line: String {
        var words = ["\(attemptedAt)", uid, "\(provider.rawValue)/\(platform.rawValue)", eventType.rawValue, status.rawValue]
        if let reasonCode { words.append(reasonCode.rawValue) }
        if let providerErrorCode { words.append("(\(providerErrorCode))") }
        if let latencyMs { words.append("\(latencyMs) ms") }
        words.append(attemptId)
        return words.joined(separator: "  ")
    }
}
