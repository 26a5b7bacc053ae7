import AlertRules
import Alerting
import ArgumentParser
import Audit
import CommandLineKit
import Foundation
import PushContract

/// `pushwatch silences …`
struct SilencesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "silences",
        abstract: "Suppress the notifications of matching alerts for a while.",
        subcommands: [List.self, Add.self, Expire.self]
    )

    /// `pushwatch silences list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the silences that have not ended.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON, as GET /silences returns it.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                let silences = try await SilenceStore.current(at: .now(), on: pool)
                if json { return try Terminal.printLine(json: SilenceListDocument(silences)) }
                guard !silences.isEmpty else { return Terminal.printLine("No silence is in force.") }
                let rows = silences.map { silence in
                    let matchers = silence.matchers.map { "\($0.name)\($0.isEqual ? "=" : "!=")\($0.value)" }.joined(separator: " ")
                    return [silence.id.uuidString.lowercased(), matchers, silence.endsAt.rfc3339, silence.author, silence.reason]
                }
                Terminal.printLine(TextTable(["ID", "MATCHES", "UNTIL", "AUTHOR", "REASON"], rows).text)
            }
        }
    }

    /// `pushwatch silences add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Suppress the notifications of matching alerts. The alerts are recorded all the same.",
            discussion: """
                  pushwatch silences add --match alertname=ProviderUnavailable --match provider=fcm --duration 2h --reason "FCM incident"
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(
            help: "label=value or label!=value, * for any text; repeatable, all must match. Labels: alertname, severity, provider, …"
        )
        var match: [String]
        @Option(help: "How long it lasts, at most 90d.", transform: CommandDuration.within(.minutes(1)...(.days(90))))
        var duration: CommandDuration
        @Option(help: "Why no one is to be notified.") var reason: String
        @Option(help: "Who adds it.") var author: String = NSUserName()
        @Flag(help: "Only show which of the alerts that fire now it would match.") var dryRun = false
        @Flag(help: "Print JSON, as POST /silences returns it.") var json = false

        func validate() throws {
            guard !match.isEmpty else { throw ValidationError("--match is missing.") }
            for text in match { _ = try Self.matcher(text) }
        }

        func run() async throws {
            let matchers = try match.map(Self.matcher)
            try await options.withPool { pool, _ in
                let now = Timestamp.now()
                // Up to the end of the minute: times are shown without seconds.
                let end = now.flooredToMinute() + .seconds(min(duration.seconds + 60, CommandDuration.days(90).seconds))
                let silence = try SilenceRequest(matchers: matchers, endsAt: end, reason: reason).silence(author: author, now: now)
                if !dryRun { try await SilenceStore.insert(silence, recording: AuditRecorder(by: author, at: now), on: pool) }
                let matched = try await AlertStore.open(on: pool).filter { silence.matches($0.labels) }
                if json { return try Terminal.printLine(json: SilenceCreatedDocument(silence, matched: matched)) }
                Terminal.printLine(
                    dryRun
                        ? "It would match \(matched.count) of the alerts that fire now\(matched.isEmpty ? "." : ":")"
                        : "\(silence.id.uuidString.lowercased()) until \(silence.endsAt.rfc3339)"
                )
                if matched.isEmpty, !dryRun {
                    Terminal.printLine(
                        "It matches none of the alerts that fire now; alerts that fire until it ends are compared with it too."
                    )
                }
                for alert in matched {
                    Terminal.printLine("  \(alert.id.uuidString.lowercased().prefix(8))  \(alert.rule) \(alert.group)")
                }
            }
        }

        private static func matcher(_ text: String) throws -> SilenceMatcher {
            guard let sign = text.firstIndex(of: "="), sign > text.startIndex else {
                throw ValidationError("--match \"\(text)\": expected label=value or label!=value.")
            }
            let isEqual = text[text.index(before: sign)] != "!"
            let name = String(text[..<sign].dropLast(isEqual ? 0 : 1))
            guard !name.isEmpty else { throw ValidationError("--match \"\(text)\": the label is missing; expected label!=value.") }
            return SilenceMatcher(name: name, value: String(text[text.index(after: sign)...]), isEqual: isEqual)
        }
    }

    /// `pushwatch silences expire ID`
    struct Expire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a silence now. Receivers are notified of what it suppressed and still fires."
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The silence's id, or its beginning, as `pushwatch silences list` shows it.") var id: String
        @Option(help: "Who ends it.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the silence's id.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                let found = try await SilenceStore.find(prefix: id, at: .now(), on: pool)
                guard found.count < 2 else { throw CommandFailure.usage("More than one silence begins with `\(id)`.") }
                guard let silence = found.first,
                    try await SilenceStore.end(silence.id, recording: AuditRecorder(by: author), on: pool)
                else { throw CommandFailure.check("No silence in force has the id `\(id)`; `pushwatch silences list` lists them.") }
                if json { return try Terminal.printLine(json: ["expired": silence.id.uuidString.lowercased()]) }
                Terminal.printLine("The silence of \(silence.subject) has ended.")
            }
        }
    }
}
