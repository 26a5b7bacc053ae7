package import PushContract

/// Counts the overs of a day's play.
private struct ReplayDay {
    let oversPerDay: Int?
    private var overs = 0

    init(oversPerDay: Int?) { self.oversPerDay = oversPerDay }

    mutating func isOver(after bowledBall: MatchScript.BowledBall) -> Bool {
        guard let oversPerDay, bowledBall.overEnds else { return false }
        overs += 1
        guard overs >= oversPerDay else { return false }
        overs = 0
        return true
    }
}

/// A match as a function of time: which position it has reached at a moment is computed, never counted.
package struct ReplayPlan: Sendable {
    package struct Step: Sendable, Hashable {
        /// Match time from the start of play; the step before the start has 0 too.
        package var milliseconds: Int64
        package var position: MatchScript.Position
    }

    package let script: MatchScript
    package let startAt: Timestamp
    package let pace: ReplayPace
    /// In the order of time. The first is the match before play.
    package let steps: [Step]

    package init(_ script: MatchScript, startAt: Timestamp, pace: ReplayPace = ReplayPace()) {
        self.script = script
        self.startAt = startAt
        self.pace = pace
        steps = ReplayPlan.steps(of: script, pace: pace)
    }

    private static func steps(of script: MatchScript, pace: ReplayPace) -> [Step] {
        var steps = [Step(milliseconds: 0, position: .init(innings: 0, bowledBalls: 0, phase: .scheduled))]
        var clock: Int64 = 0
        var day = ReplayDay(oversPerDay: pace.oversPerDay)
        for innings in script.innings {
            let isLast = innings.number == script.innings.count
            for bowled in 0...innings.bowledBalls.count {
                var position = MatchScript.Position(innings: innings.number, bowledBalls: bowled, phase: .live)
                steps.append(Step(milliseconds: clock, position: position))
                clock += pace.millisecondsPerBall
                let isEnd = bowled == innings.bowledBalls.count
                guard bowled > 0, day.isOver(after: innings.bowledBalls[bowled - 1]), !(isLast && isEnd) else { continue }
                position.phase = .stumps
                steps.append(Step(milliseconds: clock, position: position))
                clock += pace.nightSeconds * 1_000
                guard !isEnd else { continue }
                position.phase = .live
                steps.append(Step(milliseconds: clock, position: position))
                clock += pace.millisecondsPerBall
            }
            // An innings that ends with the day is followed by the night, not by a break.
            guard !isLast, steps.last?.position.phase != .stumps else { continue }
            let pause = script.innings[innings.number].isSuperOver ? pace.shortBreakSeconds : pace.breakSeconds
            let position = MatchScript.Position(innings: innings.number, bowledBalls: innings.bowledBalls.count, phase: .break)
            steps.append(Step(milliseconds: clock, position: position))
            clock += pause * 1_000
        }
        if script.result.outcome == .noResult {
            var position = script.finalPosition
            position.phase = .interrupted
            steps.append(Step(milliseconds: clock, position: position))
            clock += pace.breakSeconds * 1_000
        }
        steps.append(Step(milliseconds: clock, position: script.finalPosition))
        return steps
    }

    /// Match time that has passed at a moment.
    func matchTime(at now: Timestamp) -> Int64 { (now.microseconds - startAt.microseconds) / 1_000 * pace.speed }

    /// When a step of the plan is due, as the clock on the wall has it.
    package func moment(ofMatchTime milliseconds: Int64) -> Timestamp { startAt + .microseconds(milliseconds * 1_000 / pace.speed) }

    /// The step reached at a moment: the last one that is due; the first before the start.
    package func step(at now: Timestamp) -> Int {
        let time = matchTime(at: now)
        guard time >= 0, now >= startAt else { return 0 }
        var low = 0
        var high = steps.count
        while low < high {
            let middle = (low + high) / 2
            if steps[middle].milliseconds <= time { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }

    package func isOver(at now: Timestamp) -> Bool { step(at: now) == steps.count - 1 }

    /// How long the replay takes on the wall.
    package var duration: Duration { .milliseconds((steps.last?.milliseconds ?? 0) / pace.speed) }
}
