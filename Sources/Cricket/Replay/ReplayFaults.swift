import ServiceKit

/// Spoils the order, number and content of a replay's messages. The match is announced before play, and its last state always arrives,
/// and arrives right.
struct ReplayFaults {
    let plan: ReplayPlan
    let faults: Set<ReplayFault>
    let seed: UInt64

    func messages() -> [ReplayFeed.Message] {
        var random = SplitMix64(seed: seed)
        var messages = plan.steps.indices.map { ReplayFeed.Message(milliseconds: plan.steps[$0].milliseconds, step: $0) }
        if faults.contains(.correct) { correct(&messages, &random) }
        if faults.contains(.gap) { gap(&messages, &random) }
        if faults.contains(.late) { late(&messages, &random) }
        if faults.contains(.reorder) { reorder(&messages, &random) }
        if faults.contains(.duplicate) { duplicate(&messages, &random) }
        if faults.contains(.stall) { stall(&messages, &random) }
        return messages.enumerated().sorted { ($0.element.milliseconds, $0.offset) < ($1.element.milliseconds, $1.offset) }.map(\.element)
    }

    private var ball: Int64 { plan.pace.millisecondsPerBall }

    private func correct(_ messages: inout [ReplayFeed.Message], _ random: inout SplitMix64) {
        for index in messages.indices.dropLast() where random.hits(oneIn: 12) {
            let position = plan.steps[index].position
            guard position.phase == .live, position.bowledBalls > 0, plan.steps[index + 1].position.phase == .live else { continue }
            messages[index].wrong = Ball.Position(innings: position.innings, number: position.bowledBalls)
        }
    }

    private func gap(_ messages: inout [ReplayFeed.Message], _ random: inout SplitMix64) {
        var kept: [ReplayFeed.Message] = []
        var missing = 0
        for message in messages {
            if missing == 0, random.hits(oneIn: 20) { missing = 2 + random.below(8) }
            let isNeeded = message.step == 0 || message.step == plan.steps.count - 1
            if missing > 0, !isNeeded { missing -= 1 } else { kept.append(message) }
        }
        messages = kept
    }

    private func late(_ messages: inout [ReplayFeed.Message], _ random: inout SplitMix64) {
        for index in messages.indices.dropFirst() where random.hits(oneIn: 8) {
            messages[index].milliseconds += ball * Int64(1 + random.below(5))
        }
    }

    private func reorder(_ messages: inout [ReplayFeed.Message], _ random: inout SplitMix64) {
        for index in messages.indices.dropFirst(2) where random.hits(oneIn: 6) {
            let earlier = messages[index - 1].milliseconds
            messages[index - 1].milliseconds = messages[index].milliseconds
            messages[index].milliseconds = earlier
        }
    }

    private func duplicate(_ messages: inout [ReplayFeed.Message], _ random: inout SplitMix64) {
        for message in messages where random.hits(oneIn: 6) {
            var again = message
            again.milliseconds += Int64(random.below(3)) * ball
            messages.append(again)
        }
    }

    /// What would arrive during the silence arrives at its end.
    private func stall(_ messages: inout [ReplayFeed.Message], _ random: inout SplitMix64) {
        let end = plan.steps.last?.milliseconds ?? 0
        for _ in 0..<3 {
            let from = Int64(random.below(max(1, Int(end))))
            let until = from + ball * Int64(8 + random.below(12))
            for index in messages.indices where (from..<until).contains(messages[index].milliseconds) {
                messages[index].milliseconds = until
            }
        }
    }
}
