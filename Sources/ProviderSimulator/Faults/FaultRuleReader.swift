import ServiceKit

/// Reads the JSON of `PUT /faults`. Unknown keys, wrong types and rules that say nothing are errors that name the place.
enum FaultRuleReader {
    static func rules(from json: JSONValue) throws(ControlError) -> [FaultRule] {
        guard let items = json.elements else { throw ControlError("the body must be a JSON list of fault rules") }
        var rules: [FaultRule] = []
        for (index, item) in items.enumerated() {
            rules.append(try rule(from: StrictObject(item, at: "faults[\(index)]")))
        }
        return rules
    }

    private static func rule(from object: StrictObject) throws(ControlError) -> FaultRule {
        try object.allow(
            [
                "provider", "share", "answer", "tokens", "tokenPrefix", "times", "retryAfter", "delayMs", "afterMs", "lastsMs", "html",
                "timestamp",
            ] + FaultEffect.flags.map(\.name)
        )
        guard let provider = try object.string("provider").map(SimulatedProvider.init(rawValue:)), let provider else {
            throw ControlError("\(object.path).provider: must be apns, fcm or oauth")
        }
        let share = try object.number("share") ?? 1
        guard (0...1).contains(share) else { throw ControlError("\(object.path).share: must be between 0 and 1") }
        var rule = FaultRule(
            provider: provider,
            share: share,
            tokens: try object.strings("tokens").map(Set.init),
            tokenPrefix: try object.string("tokenPrefix"),
            times: try object.integer("times", in: 1...1_000_000_000).map(Int.init),
            delayMs: try object.integer("delayMs", in: 0...3_600_000).map(Int.init),
            effect: try effect(from: object)
        )
        rule.afterMs = try object.integer("afterMs", in: 0...86_400_000).map(Int.init)
        rule.lastsMs = try object.integer("lastsMs", in: 1...86_400_000).map(Int.init)
        return rule
    }

    private static func effect(from object: StrictObject) throws(ControlError) -> FaultEffect {
        let answer = try answer(from: object)
        var named: [FaultEffect] = []
        for flag in FaultEffect.flags where try object.bool(flag.name) ?? false { named.append(flag.effect) }
        switch (answer, named, try object.bool("html") ?? false) {
        case (let answer, [], true): return .html(status: answer?.status ?? 502)
        case (nil, let named, false) where named.count == 1: return named[0]
        case (let answer?, [], false): return .answer(answer)
        case (nil, [], false) where try object.integer("delayMs", in: 0...3_600_000) != nil: return .delayOnly
        case (nil, [], false):
            let names = FaultEffect.flags.map(\.name).joined(separator: ", ")
            throw ControlError("\(object.path): needs answer, html, delayMs, or one of \(names)")
        default: throw ControlError("\(object.path): only one of answer, hang and reset; html may stand with answer.status")
        }
    }

    private static func answer(from rule: StrictObject) throws(ControlError) -> FaultResponse? {
        guard let value = rule.members["answer"] else {
            for key in ["retryAfter", "timestamp"] where rule.members[key] != nil {
                throw ControlError("\(rule.path).\(key): needs an answer too")
            }
            return nil
        }
        let object = try StrictObject(value, at: "\(rule.path).answer")
        try object.allow(["status", "reason", "field"])
        guard let status = try object.integer("status", in: 200...599) else {
            throw ControlError("\(object.path).status: is missing")
        }
        return FaultResponse(
            status: Int(status),
            reason: try object.string("reason"),
            retryAfter: try rule.integer("retryAfter", in: 0...86_400).map(Int.init),
            timestamp: try rule.integer("timestamp", in: 0...9_007_199_254_740_991),
            field: try object.string("field")
        )
    }
}
