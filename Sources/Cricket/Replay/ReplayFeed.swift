package import PushContract

/// The states a feed sends during a replay, and when: one for each step of the plan, spoilt by the faults asked for.
///
/// A pure function of plan, face, faults and seed.
package struct ReplayFeed: Sendable {
    /// One state on its way.
    package struct Message: Sendable, Hashable {
        /// Match time at which it arrives.
        package var milliseconds: Int64
        /// The step of the plan it reports.
        package var step: Int
        /// A delivery it gets wrong.
        package var wrong: Ball.Position?
    }

    package let plan: ReplayPlan
    package let matchId: String
    package let detail: ReplayDetail
    /// In the order of arrival.
    package let messages: [Message]

    package init(_ plan: ReplayPlan, matchId: String, detail: ReplayDetail = .balls, faults: Set<ReplayFault> = [], seed: UInt64 = 1) {
        self.plan = plan
        self.matchId = matchId
        self.detail = detail
        messages = ReplayFaults(plan: plan, faults: faults, seed: seed).messages()
    }

    /// How many messages have arrived at a moment.
    package func arrived(at now: Timestamp) -> Int {
        let time = plan.matchTime(at: now)
        guard now >= plan.startAt else { return messages.first.map { $0.step == 0 ? 1 : 0 } ?? 0 }
        return messages.prefix { $0.milliseconds <= time }.count
    }

    /// The state a message carries.
    package func score(of message: Message) -> MatchScore {
        let step = plan.steps[message.step]
        var score = plan.script.score(matchId: matchId, at: step.position, withBalls: detail == .balls) { bowledBall in
            bowledBall.ball.position == message.wrong ? bowledBall.misreported : bowledBall
        }
        score.sequence = Int64(message.step)
        score.updatedAt = plan.moment(ofMatchTime: step.milliseconds)
        score.startsAt = plan.startAt
        return score
    }
}

extension MatchScript.BowledBall {
    /// As a scorer in a hurry has it: a boundary for a six, a wicket that the umpires then take back.
    fileprivate var misreported: MatchScript.BowledBall {
        var bowledBall = self
        if ball.countedWickets > 0 {
            bowledBall.ball.wickets = nil
            bowledBall.dismissals = []
        } else if ball.isFour {
            bowledBall.ball.runs = 6
        } else {
            bowledBall.ball.wickets = [.init(player: ball.batter, kind: .caught)]
            bowledBall.dismissals = ["c sub b \(ball.bowler)"]
        }
        return bowledBall
    }
}
