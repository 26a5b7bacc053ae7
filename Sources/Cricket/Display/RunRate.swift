/// Runs an over as text with two decimals, in whole numbers throughout.
enum RunRate {
    static func current(_ innings: InningsScore?, ballsPerOver: Int) -> String? {
        guard let innings else { return nil }
        return text(runs: innings.runs, balls: innings.overs.legalBalls(ballsPerOver: ballsPerOver), ballsPerOver: ballsPerOver)
    }

    static func required(_ innings: InningsScore?, ballsPerOver: Int) -> String? {
        guard let innings, let target = innings.target, let left = ballsLeft(innings, ballsPerOver: ballsPerOver) else { return nil }
        let needed = target.runs - innings.runs
        return needed > 0 ? text(runs: needed, balls: left, ballsPerOver: ballsPerOver) : nil
    }

    static func ballsLeft(_ innings: InningsScore, ballsPerOver: Int) -> Int? {
        innings.target?.overs.map {
            max(0, $0.legalBalls(ballsPerOver: ballsPerOver) - innings.overs.legalBalls(ballsPerOver: ballsPerOver))
        }
    }

    /// Nil before the first ball.
    private static func text(runs: Int, balls: Int, ballsPerOver: Int) -> String? {
        guard balls > 0 else { return nil }
        let hundredths = (runs * ballsPerOver * 100 * 2 + balls) / (balls * 2)
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
