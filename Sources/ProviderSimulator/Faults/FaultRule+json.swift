import ServiceKit

extension FaultRule {
    /// The rule as `PUT /faults` takes it.
    var json: JSONMembers {
        var members: JSONMembers = [
            "provider": .string(provider.rawValue), "share": share == share.rounded() ? .integer(Int64(share)) : .number(share),
        ]
        members["tokens"] = tokens.map { .array($0.sorted().map(JSONValue.string)) }
        members["tokenPrefix"] = tokenPrefix.map(JSONValue.string)
        members["times"] = times.map { .integer(Int64($0)) }
        members["afterMs"] = afterMs.map { .integer(Int64($0)) }
        members["lastsMs"] = lastsMs.map { .integer(Int64($0)) }
        members["delayMs"] = delayMs.map { .integer(Int64($0)) }
        switch effect {
        case .answer(let answer):
            members["answer"] = .object(answer.json)
            members["retryAfter"] = answer.retryAfter.map { .integer(Int64($0)) }
            members["timestamp"] = answer.timestamp.map { .integer(Int64($0)) }
        case .html(let status):
            members["html"] = true
            members["answer"] = ["status": .integer(Int64(status))]
        case .hang, .reset, .refuseStream, .resetStream, .goaway, .goawayAbrupt, .slowBody: members[effect.flag] = true
        case .delayOnly: break
        }
        return members
    }
}

extension FaultEffect {
    /// The effects that `PUT /faults` names by a member that is true.
    static let flags: [(name: String, effect: FaultEffect)] = [
        ("hang", .hang), ("reset", .reset), ("refuseStream", .refuseStream), ("resetStream", .resetStream), ("goaway", .goaway),
        ("goawayAbrupt", .goawayAbrupt), ("slowBody", .slowBody),
    ]

    fileprivate var flag: String { FaultEffect.flags.first { $0.effect == self }?.name ?? "" }
}

extension FaultResponse {
    fileprivate var json: JSONMembers {
        var members: JSONMembers = ["status": .integer(Int64(status))]
        members["reason"] = reason.map(JSONValue.string)
        members["field"] = field.map(JSONValue.string)
        return members
    }
}
