import ArgumentParser
import CommandLineKit
import Cricket
import Foundation
import LiveActivities
import Server

/// `pushwatch feeds …`
struct FeedsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feeds",
        abstract: "Check score feeds.",
        subcommands: [Check.self]
    )

    /// `pushwatch feeds check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check a file of score feeds, and show the match states parsed from a saved response.",
            discussion: """
                With --sample, prints the state of each match in a saved answer, one JSON object each, or what is wrong with it and where. Without \
                it, checks the file alone. Exits with 1 if anything is wrong.
                """
        )

        @Argument(help: "The file of `matches.feedsFile`.") var file: String
        @Option(help: "A file with an answer of the feed.") var sample: String?
        @Option(help: "The URL of the feed, if the file has several.") var feed: String?

        func run() async throws {
            guard FileManager.default.fileExists(atPath: file) else { throw CommandFailure.environment("\(file): no such file") }
            let feeds: [ScoreFeed]
            do {
                feeds = try ScoreFeed.read(file: file)
            } catch {
                throw CommandFailure.check(error.description)
            }
            guard let sample else {
                let mapped = feeds.count { $0.mapping != nil }
                return Terminal.printLine("\(file): \(feeds.count) feeds, \(mapped) of them with a mapping")
            }
            guard let answer = FileManager.default.contents(atPath: sample) else {
                throw CommandFailure.environment("\(sample) cannot be read.")
            }
            let chosen = feeds.filter { feed == nil || $0.url == feed || $0.name == feed }
            guard let first = chosen.first, chosen.count == 1 else {
                let known = feeds.map(\.name).joined(separator: "\n  ")
                throw CommandFailure.usage("Say which feed the answer is from, with --feed. \(file) has:\n  \(known)")
            }
            do {
                let (states, faults) = try first.states(in: [UInt8](answer))
                for state in states { Terminal.printLine(String(decoding: state.json, as: UTF8.self)) }
                for fault in faults { Terminal.printError("\(sample): \(fault)") }
                if !faults.isEmpty { throw ExitCode(1) }
            } catch let fault as FeedError {
                throw CommandFailure.check("\(sample): \(fault)")
            }
        }
    }
}
