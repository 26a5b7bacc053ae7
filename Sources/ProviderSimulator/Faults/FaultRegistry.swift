import PushContract
import ServiceKit

/// The rules in force, how often each has hit, and the dice.
///
/// The n-th draw after `set` depends on the seed alone, so a run with one sender is repeatable, and with several the number
/// of hits is.
struct FaultRegistry: Sendable, Hashable {
    private(set) var rules: [FaultRule] = []
    /// Hits of each rule since it was set.
    private(set) var hits: [Int] = []
    private var random: SplitMix64
    private var setAt = Timestamp(microseconds: 0)

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
    }

    /// Replaces all rules and starts the dice anew.
    mutating func set(_ rules: [FaultRule], seed: UInt64, now: Timestamp = Timestamp(microseconds: 0)) {
        self.rules = rules.map(\.normalised)
        setAt = now
        hits = Array(repeating: 0, count: rules.count)
        random = SplitMix64(seed: seed)
    }

    /// The rule that hits this request, counted as a hit; nil: none does. One draw decides among all rules that match.
    mutating func take(provider: SimulatedProvider, token: String?, now: Timestamp = Timestamp(microseconds: 0)) -> FaultRule? {
        let candidates = rules.indices.filter { index in
            rules[index].isInForce(after: now - setAt) && rules[index].matches(provider: provider, token: token)
                && rules[index].times.map { hits[index] < $0 } ?? true
        }
        guard !candidates.isEmpty else { return nil }
        let draw = random.unit()
        var upTo = 0.0
        for index in candidates {
            upTo += rules[index].share
            if draw < upTo {
                hits[index] += 1
                return rules[index]
            }
        }
        return nil
    }
}

extension FaultRule {
    fileprivate func isInForce(after wait: Duration) -> Bool {
        let begin = Duration.milliseconds(afterMs ?? 0)
        guard wait >= begin else { return false }
        return lastsMs.map { wait < begin + .milliseconds($0) } ?? true
    }

    /// APNs tokens in lower case, the form requests are compared in.
    fileprivate var normalised: FaultRule {
        guard provider == .apns else { return self }
        var rule = self
        rule.tokens = tokens.map { Set($0.map { $0.lowercased() }) }
        rule.tokenPrefix = tokenPrefix?.lowercased()
        return rule
    }
}
