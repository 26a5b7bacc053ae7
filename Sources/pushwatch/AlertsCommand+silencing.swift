import AlertRules
import Alerting
import ArgumentParser
import Foundation
import Postgres
import PushContract

extension AlertsCommand {
    /// `pushwatch silences add`
    struct Silence: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Keep matching alerts from being delivered for a while. They are recorded all the same.",
            discussion:
                "pushwatch silences add --match alertname=ProviderUnavailable --match provider=fcm --duration 2h --reason \"FCM incident\""
        )

        @OptionGroup var options: Options
        @Option(help: "label=value or label!=value, * for any text; repeatable, all must hold. Labels: alertname, severity, provider, …")
        var match: [String]
        @Option(name: .customLong("for"), help: "How long: 30m, 2h, 7d; at most 90d.") var length: String
        @Option(help: "Why nobody is to be told.") var reason: String
        @Option(help: "Who says so.") var by: String = NSUserName()
        @Flag(help: "Only show which of the alerts that fire now it would match.") var preview = false

        func run() async throws {
            let matchers = try match.map(Self.matcher)
            guard !matchers.isEmpty else { throw ValidationError("--match is missing.") }
            guard let duration = RuleDuration(length), duration.minutes <= 90 * 1440 else {
                throw ValidationError("--for is a duration such as 30m, 2h or 7d, and at most 90d; not '\(length)'.")
            }
            try await options.withDatabase { pool, _ in
                let now = Timestamp.now()
                // To the end of the minute: nobody reads the rest.
                let end = now.flooredToMinute() + .seconds(Int64(min(duration.minutes + 1, 90 * 1440)) * 60)
                let request = SilenceRequest(matchers: matchers, endsAt: end, reason: reason)
                let silence = try request.silence(author: by, now: now)
                if !preview { try await SilenceStore.insert(silence, on: pool) }
                let matched = try await AlertStore.open(on: pool).filter { silence.matches($0.labels) }
                if options.json { return try options.printLine(json: SilenceCreatedDocument(silence, matched: matched)) }
                Terminal.printLine(
                    preview
                        ? "It would match \(matched.count) of the alerts that fire now\(matched.isEmpty ? "." : ":")"
                        : "\(silence.id.uuidString.lowercased()) until \(silence.endsAt.rfc3339)"
                )
                if matched.isEmpty, !preview {
                    Terminal.printLine("It matches none of the alerts that fire now; whatever comes until then is compared too.")
                }
                for alert in matched {
                    Terminal.printLine("  \(alert.id.uuidString.lowercased().prefix(8))  \(alert.rule) \(alert.group)")
                }
            }
        }

        private static func matcher(_ text: String) throws -> SilenceMatcher {
            guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
                throw ValidationError("`\(text)` is not label=value or label!=value.")
            }
            let isEqual = text[text.index(before: sign)] != "!"
            let name = String(text[..<sign].dropLast(isEqual ? 0 : 1))
            guard !name.isEmpty else { throw ValidationError("`\(text)` names no label.") }
            return SilenceMatcher(name: name, value: String(text[text.index(after: sign)...]), isEqual: isEqual)
        }
    }

    /// `pushwatch silences list`
    struct Silences: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "The silences that have not ended.")

        @OptionGroup var options: Options

        func run() async throws {
            try await options.withDatabase { pool, _ in
                let silences = try await SilenceStore.current(at: .now(), on: pool)
                if options.json { return try options.printLine(json: SilenceListDocument(silences)) }
                guard !silences.isEmpty else { return Terminal.printLine("Nothing is silenced.") }
                let rows = silences.map { silence in
                    let matchers = silence.matchers.map { "\($0.name)\($0.isEqual ? "=" : "!=")\($0.value)" }.joined(separator: " ")
                    return [silence.id.uuidString.lowercased(), matchers, silence.endsAt.rfc3339, silence.author, silence.reason]
                }
                Terminal.printLine(TextTable(["ID", "MATCHES", "UNTIL", "AUTHOR", "REASON"], rows).text)
            }
        }
    }

    /// `pushwatch silences expire ID`
    struct Unsilence: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "End a silence now. What it suppressed and still fires is delivered.")

        @OptionGroup var options: Options
        @Argument(help: "The silence's id, or its beginning, as `pushwatch silences list` shows it.") var id: String

        func run() async throws {
            try await options.withDatabase { pool, _ in
                let found = try await SilenceStore.find(prefix: id, at: .now(), on: pool)
                guard found.count < 2 else { throw CommandFailure(message: "More than one silence begins with `\(id)`.", code: 2) }
                guard let silence = found.first, try await SilenceStore.end(silence.id, at: .now(), on: pool) else {
                    throw CommandFailure.check("There is no current silence with the id `\(id)`; `pushwatch silences list` lists them.")
                }
                Terminal.printLine("\(silence.subject) is told of again.")
            }
        }
    }
}
