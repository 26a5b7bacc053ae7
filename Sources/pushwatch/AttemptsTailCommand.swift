import ArgumentParser
import Attempts
import CommandLineKit
import Foundation
import HTTPServer
import Logging
import Postgres
import PushContract
import Server

/// `pushwatch attempts tail`
struct AttemptsTailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show the newest attempts; --follow keeps printing new ones.",
        discussion: "Reads the database; the newest attempt is the last line. Attempts that arrive late are shown too."
    )

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Only of this uid.") var uid: String?
    @Option(help: "Only those that failed for this reason: \(ReasonCode.allCases.map(\.rawValue).joined(separator: ", ")).") var reason:
        String?
    @Option(help: "Attempts to begin with.") var lines = 20
    @Flag(name: .shortAndLong, help: "Continue until Ctrl-C.") var follow = false
    @Flag(help: "Print each attempt as one line of JSON, in the form of POST /attempts.") var json = false

    func validate() throws {
        guard (0...10_000).contains(lines) else { throw ValidationError("--lines must be between 0 and 10000.") }
        guard reason == nil || reason.flatMap(ReasonCode.init) != nil else {
            throw ValidationError(
                "--reason: unknown reason \"\(reason ?? "")\"; expected one of \(ReasonCode.allCases.map(\.rawValue).joined(separator: ", "))."
            )
        }
    }

    func run() async throws {
        try await options.withPool(connections: 1) { pool, _ in
            let filter = AttemptTail.Filter(uid: uid, reason: reason.flatMap(ReasonCode.init))
            // Attempts of one uid have an index; those of all are searched backwards, for one day at most.
            let days: Int64 = uid == nil ? 1 : 7
            var tail = AttemptTail(filter: filter, since: .now() - .seconds(days * 86_400))
            let newest = try await tail.last(lines, now: .now(), on: pool)
            try show(newest)
            if newest.isEmpty, lines > 0 { Terminal.printError("None in the last \(days == 1 ? "day" : "\(days) days").") }
            if follow { try await go(on: &tail, pool) }
        }
    }

    /// Reads once a second. While the database cannot be reached it waits; the next round, with its limit, reads what was stored since.
    private func go(on tail: inout AttemptTail, _ pool: PostgresPool) async throws {
        var isAway = false
        while true {
            try await Task.sleep(for: .seconds(1))
            do {
                let new = try await tail.next(now: .now(), on: pool)
                if isAway { Terminal.printError("… the database is back") }
                isAway = false
                try show(new)
                if tail.leftSomeOut {
                    let limit = AttemptTail.roundLimit
                    Terminal.printError("… more than \(limit) at once, the oldest are left out; narrow it with --uid or --reason")
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
    /// Time, uid, status, and reason.
    fileprivate var line: String {
        var words = ["\(attemptedAt)", uid, "\(provider.rawValue)/\(platform.rawValue)", eventType.rawValue, status.rawValue]
        if let reasonCode { words.append(reasonCode.rawValue) }
        if let providerErrorCode { words.append("(\(providerErrorCode))") }
        if let latencyMs { words.append("\(latencyMs) ms") }
        words.append(attemptId)
        return words.joined(separator: "  ")
    }
}
