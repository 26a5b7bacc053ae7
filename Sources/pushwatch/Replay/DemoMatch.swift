import Cricket
import CurlHTTP
import Foundation
import Logging
import PushContract
import ServiceLifecycle

/// Plays the bundled match over and over, each time as a match of its own, through the API: for `up`.
struct DemoMatch: Service {
    let script: MatchScript
    let url: String
    let key: String
    let tempo: ReplayTempo
    /// From the announcement to the first ball, so that there is time to follow it.
    let lead: Duration
    /// Told before each match, so that simulated phones can follow it.
    let announce: @Sendable (_ matchId: String) async -> Void
    let send: MatchFeeder.Send
    let logger: Logger

    /// The bundled match.
    static func script() throws -> MatchScript {
        let path = try ProjectFiles.locate("matches/demo.json")
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure.environment("The demo match \(path) cannot be read.")
        }
        do {
            return MatchScript(try CricsheetMatch.read(json: data))
        } catch let fault as FeedFault {
            throw CommandFailure.check("\(path) is not a match in the Cricsheet format: \(fault)")
        }
    }

    /// A ball every two seconds, breaks of ten: a match in about five minutes.
    static let quickTempo = ReplayTempo(millisecondsPerBall: 40_000, breakSeconds: 200, shortBreakSeconds: 100, speed: 20)

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let start = Timestamp.now() + lead
                let matchId = "demo-\(start.seconds)"
                let feed = ReplayFeed(ReplayPlan(script, startAt: start, tempo: tempo), matchId: matchId)
                await announce(matchId)
                do {
                    _ = try await MatchFeeder(feed: feed, url: url, key: key, send: send).run()
                } catch let failure as CommandFailure {
                    logger.warning("the demo match was refused", metadata: ["why": "\(failure.message)"])
                }
                try await Task.sleep(for: .seconds(20))
            }
        }
    }
}
