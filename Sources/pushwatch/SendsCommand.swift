import ArgumentParser
import CommandLineKit
import Delivery
import Postgres
import ServiceKit

/// `pushwatch sends …`
struct SendsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sends",
        abstract: "Watch the outcomes of sends, and the webhooks that receive them.",
        subcommands: [Watch.self, Webhooks.self, Replay.self]
    )

    static func cursor(_ text: String) throws -> OutcomeCursor {
        guard let cursor = OutcomeCursor(text) else { throw ValidationError("A cursor is two numbers with a hyphen, such as 1204-3.") }
        return cursor
    }

    /// `pushwatch sends watch`
    struct Watch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the outcomes of sends as they are written, until Ctrl-C.",
            discussion: """
                Each line ends with its cursor; continue with --after, here or with GET /sends/outcomes. Nothing is missed or repeated.

                  pushwatch sends watch --send hello-1 --after 0-0
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "Continue after this cursor; 0-0 is the beginning. Only new outcomes unless given.", transform: SendsCommand.cursor)
        var after: OutcomeCursor?
        @Option(help: "Only of this send.") var send: String?
        @Option(help: "Only deliveries to this app.") var app: String?
        @Option(help: "Only sends made with the API key of this name.") var author: String?
        @Flag(help: "Stop at the end of what is there.") var once = false
        @Flag(help: "Print each outcome as one line of JSON.") var json = false

        func run() async throws {
            try await options.withPool(connections: 1) { pool, _ in
                let stream = OutcomeStream(pool: pool)
                let filter = OutcomeStream.Filter(sendId: send, apps: app.map { [$0] }, authors: author.map { [$0] })
                var cursor = after
                var isAway = false
                while true {
                    do {
                        let from = if let cursor { cursor } else { try await stream.end() }
                        let page = try await stream.page(after: from, filter, limit: 1000)
                        if isAway { Terminal.printError("… the database is back") }
                        isAway = false
                        for outcome in page.outcomes { Terminal.printLine(json ? outcome.text : outcome.line) }
                        cursor = page.next
                        if page.next != from { continue }
                        if once { return }
                    } catch let error as PostgresError where error.isUnavailable && !once {
                        if !isAway { Terminal.printError("… the database cannot be reached, waiting for it: \(error.message)") }
                        isAway = true
                    }
                    try await Task.sleep(for: .milliseconds(500))
                }
            }
        }
    }
}

extension JSONValue {
    /// Time, event, send, whom, and why.
    fileprivate var line: String {
        var words = [member("at") ?? "", member("event") ?? ""]
        if let alert = self["alert"] {
            words.append("alert of \(alert.member("type") ?? "") \(alert.member("id") ?? ""): \(alert.member("title") ?? "")")
        } else {
            words.append(member("sendId") ?? "")
        }
        if case .integer(let deliveries)? = self["deliveries"] { words.append("\(deliveries) deliveries") }
        words += ["uid", "deviceId", "reasonCode"].compactMap(member)
        if let code = member("providerErrorCode") { words.append("(\(code))") }
        if let next = member("nextAttemptAt") { words.append("next attempt \(next)") }
        words.append(member("cursor") ?? "")
        return words.joined(separator: "  ")
    }
}
