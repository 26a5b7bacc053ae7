package import Cricket
import Logging
package import PushContract
import ServiceKit
import ServiceLifecycle

/// Plays one match over and over until shutdown, each time as a match of its own, through the API.
package struct RepeatedMatch: Service {
    /// When a match is played: announced, then under way, then over.
    package struct Fixture: Sendable, Hashable {
        package var matchId: String
        package var startAt: Timestamp

        package init(startAt: Timestamp) {
            matchId = "demo-\(startAt.seconds)"
            self.startAt = startAt
        }
    }

    /// What is reported of it.
    package enum News: Sendable, Hashable {
        /// It begins soon, so that phones can follow it.
        case announced(Fixture)
        /// The server took its last state.
        case over(Fixture)
        /// The server refused a state for good; the match is left.
        case refused(Fixture, why: String)
    }

    /// A ball every two seconds, breaks of ten: two innings of ten overs in about five minutes.
    package static let quickPace = ReplayPace(millisecondsPerBall: 40_000, breakSeconds: 200, shortBreakSeconds: 100, speed: 20)
    /// A ball every six seconds.
    package static let quietPace = ReplayPace(millisecondsPerBall: 120_000, breakSeconds: 600, shortBreakSeconds: 300, speed: 20)

    private let script: MatchScript
    private let pace: ReplayPace
    private let lead: Duration
    private let rest: Duration
    private let feeder: @Sendable (ReplayFeed) -> MatchFeeder
    private let unfinished: Fixture?
    private let notify: @Sendable (News) async -> Void

    /// - Parameters:
    ///   - lead: from the announcement to the first ball, so that there is time to follow it.
    ///   - rest: from the end of a match to the announcement of the next.
    ///   - unfinished: a match of an earlier run; its last state is put first, so that it does not stay live for ever.
    ///   - feeder: what carries a feed's states to the server.
    package init(
        _ script: MatchScript,
        pace: ReplayPace = RepeatedMatch.quickPace,
        lead: Duration = .seconds(20),
        rest: Duration = .seconds(20),
        unfinished: Fixture? = nil,
        feeder: @escaping @Sendable (ReplayFeed) -> MatchFeeder,
        notify: @escaping @Sendable (News) async -> Void
    ) {
        self.script = script
        self.pace = pace
        self.lead = lead
        self.rest = rest
        self.unfinished = unfinished
        self.feeder = feeder
        self.notify = notify
    }

    package func run() async throws {
        let logger = Logger(label: "pushwatch.matches")
        let service = PeriodicService("repeated match", every: rest, logger: logger, state: unfinished) { unfinished in
            if let fixture = unfinished {
                unfinished = nil
                // If the server does not know that match any more, this is its only state, which does no harm.
                _ = try? await feeder(feed(of: fixture)).finish()
            }
            try await playOnce()
        }
        try await service.run()
    }

    /// One match from its announcement to its last state.
    package func playOnce(now: Timestamp = .now()) async throws {
        let fixture = Fixture(startAt: now + lead)
        await notify(.announced(fixture))
        do {
            _ = try await feeder(feed(of: fixture)).run()
            await notify(.over(fixture))
        } catch let refused as MatchFeeder.Refused {
            await notify(.refused(fixture, why: refused.message))
        }
    }

    private func feed(of fixture: Fixture) -> ReplayFeed {
        ReplayFeed(ReplayPlan(script, startAt: fixture.startAt, pace: pace), matchId: fixture.matchId)
    }
}
