import ServiceKit

/// A JSON object read member by member; every complaint names its place (`faults[0].share: must be a number`).
struct StrictObject: Sendable {
    let members: JSONMembers
    let path: String

    init(_ json: JSONValue, at path: String) throws(ControlError) {
        guard let members = json.members else { throw ControlError("\(path): must be an object") }
        self.members = members
        self.path = path
    }

    /// Refuses members that are not named here.
    func allow(_ known: [String]) throws(ControlError) {
        guard let unknown = members.keys.first(where: { !known.contains($0) }) else { return }
        throw ControlError("\(path).\(unknown): unknown key; known are \(known.joined(separator: ", "))")
    }

    func string(_ key: String) throws(ControlError) -> String? {
        guard let value = members[key] else { return nil }
        guard let text = value.string else { throw ControlError("\(path).\(key): must be a string") }
        return text
    }

    func number(_ key: String) throws(ControlError) -> Double? {
        guard let value = members[key] else { return nil }
        guard let number = value.number else { throw ControlError("\(path).\(key): must be a number") }
        return number
    }

    func integer(_ key: String, in range: ClosedRange<Int64>) throws(ControlError) -> Int64? {
        guard let value = members[key] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw ControlError("\(path).\(key): must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func bool(_ key: String) throws(ControlError) -> Bool? {
        guard let value = members[key] else { return nil }
        guard let flag = value.bool else { throw ControlError("\(path).\(key): must be true or false") }
        return flag
    }

    func strings(_ key: String) throws(ControlError) -> [String]? {
        guard let value = members[key] else { return nil }
        guard let items = value.elements else { throw ControlError("\(path).\(key): must be a list of strings") }
        var texts: [String] = []
        for item in items {
            guard let text = item.string else { throw ControlError("\(path).\(key): must be a list of strings") }
            texts.append(text)
        }
        return texts
    }
}
