import ArgumentParser
import CommandLineKit
import Cricket
import Foundation
import HTTPClient
import HTTPServer
import Logging
import ProviderSimulator
import PushContract

/// `pushwatch-dev replay`
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Play a match file as a live match: its states are sent to a running server, ball by ball.",
        discussion: """
            The file is in the Cricsheet JSON format; without one, the bundled demo match is played. The clock alone determines the \
            state of the match: stop it, start it again with the same --start-at, and it continues where the match is by then.

              pushwatch-dev replay matches/demo.json --speed 60
              pushwatch-dev replay MATCH.json --speed 20 --faults late,duplicate,reorder,correct,gap,stall --seed 7
              pushwatch-dev replay MATCH.json --dry-run          the states and events, without a server

            Follow it: GET /matches/{matchId} with the same key.
            """
    )

    @Argument(help: "The match file; the bundled demo match if left out.") var file: String?
    @Option(help: "How many times faster than play: at 60 a ball takes two thirds of a second.") var speed: Int64 = 60
    @Option(help: "What the feed does wrong, separated by commas: late, duplicate, reorder, correct, gap, stall.") var faults: String?
    @Option(help: "Chooses the faults; the same seed gives the same faults.") var seed: UInt64 = 1
    @Option(help: "What the feed knows: scores, or balls as well.") var detail = "balls"
    @OptionGroup var api: APIOptions
    @Option(help: "The match's id at the server; made from the file's name and the start if left out.") var matchId: String?
    @Option(help: "When play begins (RFC 3339); now if left out. A time in the past joins in mid-match.") var startAt: String?
    @Option(help: "Time from ball to ball, before --speed; 40s unless given.", transform: CommandDuration.within(.seconds(1)...(.hours(1))))
    var ballInterval = CommandDuration.seconds(40)
    @Option(
        name: .customLong("break"),
        help: "Time between innings, before --speed; 20m unless given.",
        transform: CommandDuration.within(.seconds(0)...(.days(1)))
    )
    var inningsBreak = CommandDuration.minutes(20)
    @Option(help: "Overs of a day's play, for matches over several days; played through without a night if left out.")
    var oversPerDay: Int?
    @Option(
        help: "Time from stumps to the next morning, before --speed; 63000s unless given.",
        transform: CommandDuration.within(.seconds(0)...(.days(7)))
    )
    var night = CommandDuration.seconds(63_000)
    @Flag(help: "Print the timeline of states and events, and send nothing.") var dryRun = false
    @Flag(help: "A line of JSON for each state.") var json = false

    func validate() throws {
        guard (1...1_000_000).contains(speed) else { throw ValidationError("--speed must be a whole number from 1 to 1000000.") }
        guard (1...1_000).contains(oversPerDay ?? 1) else { throw ValidationError("--overs-per-day must be from 1 to 1000.") }
        _ = try chosenFaults()
        guard ReplayDetail(rawValue: detail) != nil else { throw ValidationError("--detail is scores or balls.") }
        if let startAt, Timestamp(rfc3339: startAt) == nil {
            throw ValidationError("--start-at is an RFC 3339 date-time with offset, such as 2026-11-21T15:00:00Z.")
        }
    }

    func run() async throws {
        LogBootstrap.bootstrap(level: .warning)
        let feed = try makeFeed()
        if dryRun {
            try printTimeline(of: feed)
        } else {
            try await play(feed)
        }
    }

    private func chosenFaults() throws -> Set<ReplayFault> {
        guard let faults, !faults.isEmpty else { return [] }
        return Set(
            try faults.split(separator: ",").map { name in
                guard let fault = ReplayFault(rawValue: name.trimmingCharacters(in: .whitespaces)) else {
                    let known = ReplayFault.allCases.map(\.rawValue).joined(separator: ", ")
                    throw ValidationError("`\(name)` is not a fault: \(known).")
                }
                return fault
            }
        )
    }

    private func makeFeed() throws -> ReplayFeed {
        let path = try file ?? ProjectFiles.locate("matches/demo.json")
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure.environment("The match file \(path) cannot be read.")
        }
        let start = startAt.flatMap { Timestamp(rfc3339: $0) } ?? .now()
        do {
            let script = MatchScript(try CricsheetMatch.read(json: data))
            var pace = ReplayPace(
                millisecondsPerBall: ballInterval.seconds * 1_000,
                breakSeconds: inningsBreak.seconds,
                shortBreakSeconds: inningsBreak.seconds / 4,
                speed: speed
            )
            pace.oversPerDay = oversPerDay
            pace.nightSeconds = night.seconds
            let name = URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent
            return ReplayFeed(
                ReplayPlan(script, startAt: start, pace: pace),
                matchId: matchId ?? "\(name)-\(start.seconds)",
                detail: ReplayDetail(rawValue: detail) ?? .balls,
                faults: try chosenFaults(),
                seed: seed
            )
        } catch let fault as FeedError {
            throw CommandFailure.check("\(path) is not a match in the Cricsheet format: \(fault)")
        }
    }

    private func printTimeline(of feed: ReplayFeed) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try ReplayTimeline(feed: feed).forEach { entry in
            Terminal.printLine(json ? String(decoding: try encoder.encode(entry), as: UTF8.self) : entry.line)
        }
    }

    private func play(_ feed: ReplayFeed) async throws {
        let key = try ProcessInfo.processInfo.environment["PUSHWATCH_BOOTSTRAP_KEY"] ?? api.apiKey(scope: "matches:write")
        let client = CurlClient(configuration: CurlClientConfiguration())
        let total = feed.messages.count
        Terminal.printError("\(feed.matchId): \(total) states in \(Int(feed.plan.duration.inSeconds)) s. Ctrl-C stops.")
        var preparing = MatchFeeder(feed: feed, url: api.serverURL, key: key) { try await client.send($0) }
        preparing.onReceipt = { [json] index, receipt, tally in
            if json { Terminal.printLine(ReplayCommand.line(index, receipt)) }
            Terminal.progress(
                "\(index + 1) of \(total) states, \(tally.accepted) changed the card, \(tally.stale) stale; now \(receipt.phase), seq \(receipt.seq)"
            )
        }
        preparing.onFailure = { Terminal.printError("The server cannot be reached (\($0)); trying again.") }
        let feeder = preparing
        guard let tally = try await Interruption().until({ try await played(by: feeder) }) else {
            Terminal.progress("Stopped. Continue with --match-id \(feed.matchId) --start-at \(feed.plan.startAt)", isLast: true)
            throw CommandFailure(message: "", code: 130)
        }
        Terminal.progress("Over: \(tally.sent) states sent, \(tally.accepted) changed the card, \(tally.stale) were stale.", isLast: true)
    }

    private func played(by feeder: MatchFeeder) async throws -> MatchFeeder.Tally {
        do {
            return try await feeder.run()
        } catch let refused as MatchFeeder.Refused {
            throw CommandFailure.check(refused.message)
        }
    }

    private static func line(_ index: Int, _ receipt: MatchFeeder.Receipt) -> String {
        let events = receipt.events.map { "\"\($0)\"" }.joined(separator: ",")
        return
            "{\"message\":\(index),\"result\":\"\(receipt.result)\",\"seq\":\(receipt.seq),\"phase\":\"\(receipt.phase)\",\"events\":[\(events)]}"
    }
}
