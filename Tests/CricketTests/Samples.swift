import Foundation
import PushContract

@testable import Cricket

/// Short ways to write scores.
enum Sample {
    static let now = Timestamp(seconds: 1_800_000_000)
    static let teams = [MatchScore.Team(name: "Ash Town", short: "AT"), MatchScore.Team(name: "Birch City", short: "BC")]

    static func score(
        _ sequence: Int64,
        phase: MatchPhase = .live,
        innings: [InningsScore] = [],
        balls: [Ball]? = nil,
        result: MatchResult? = nil
    ) -> MatchScore {
        MatchScore(
            matchId: "m1",
            sequence: sequence,
            updatedAt: Timestamp(seconds: 1_800_000_000 + sequence),
            teams: teams,
            phase: phase,
            innings: innings,
            balls: balls,
            result: result
        )
    }

    static func innings(
        _ number: Int = 1,
        _ runs: Int,
        _ wickets: Int,
        _ overs: String,
        closed: Bool? = nil,
        superOver: Bool? = nil,
        target: Int? = nil,
        batters: [BatterCard]? = nil,
        bowlers: [BowlerCard]? = nil
    ) -> InningsScore {
        InningsScore(
            number: number,
            team: number % 2 == 1 ? "AT" : "BC",
            runs: runs,
            wickets: wickets,
            overs: Overs(overs)!,
            closed: closed,
            superOver: superOver,
            target: target.map { InningsScore.Target(runs: $0, overs: Overs(completed: 20)) },
            batters: batters,
            bowlers: bowlers
        )
    }

    static func ball(
        _ number: Int,
        _ runs: Int = 0,
        bowler: String = "Elm",
        batter: String = "Oak",
        innings: Int = 1,
        wicket: WicketKind? = nil,
        extras: Ball.Extras? = nil,
        nonBoundary: Bool? = nil
    ) -> Ball {
        Ball(
            innings: innings,
            number: number,
            over: (number - 1) / 6,
            ball: (number - 1) % 6 + 1,
            batter: batter,
            bowler: bowler,
            runs: runs,
            extras: extras,
            nonBoundary: nonBoundary,
            wickets: wicket.map { [.init(player: batter, kind: $0)] }
        )
    }

    /// Plays every state of a replay through detection, faultless unless told, and returns each change.
    static func play(_ feed: ReplayFeed) -> [MatchChange] {
        var memory = MatchMemory()
        var changes: [MatchChange] = []
        for message in feed.messages {
            let now = feed.plan.moment(ofMatchTime: message.milliseconds)
            switch MatchProgress.step(memory, with: feed.score(of: message), now: now) {
            case .changed(let change):
                memory = change.memory
                changes.append(change)
            case .unchanged(let kept): memory = kept
            case .stale, .afterTheEnd: break
            }
        }
        return changes
    }

    static func feed(_ script: MatchScript, detail: ReplayDetail = .balls, faults: Set<ReplayFault> = [], seed: UInt64 = 1) -> ReplayFeed {
        ReplayFeed(ReplayPlan(script, startAt: now), matchId: "m1", detail: detail, faults: faults, seed: seed)
    }
}

extension [MatchChange] {
    var events: [MatchEvent] { flatMap(\.events) }
    /// Everything told, without the many that come with nearly every ball.
    var story: [String] {
        events.filter { ![.scoreChange, .newBatsman, .four, .six].contains($0.type) }
            .map {
                "\($0.type.rawValue) \($0.innings)\($0.ball.map { " @\($0)" } ?? "")\($0.count > 1 ? " ×\($0.count)" : "")\($0.subject.map { " \($0)" } ?? "")"
            }
    }
    func count(_ type: MatchEventType) -> Int { events.filter { $0.type == type }.reduce(0) { $0 + (type == .wicket ? $1.count : 1) } }
}
