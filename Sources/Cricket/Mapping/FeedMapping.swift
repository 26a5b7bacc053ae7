package import ServiceKit

/// How a vendor's answer becomes states of matches (docs/score-feed.md, Mapping). Fields that no path names are ignored.
package struct FeedMapping: Sendable, Hashable {
    indirect enum Node: Sendable, Hashable {
        case constant(JSONValue)
        case value(FeedPath, FeedConversion)
        /// The value that the element of a list has whose key is that of the path.
        case lookup(FeedPath, list: FeedPath, key: FeedPath, value: FeedPath)
        /// The position in the list at hand, from this number on.
        case index(from: Int)
        case object([String: Node])
        case list(FeedPath, where: [FeedPath: [String]], item: Node)
    }

    /// Where the matches are; nil: the answer is one match.
    let matches: FeedPath?
    let state: Node

    /// One match of an answer.
    package struct Mapped: Sendable {
        /// Where it is in the answer.
        package var pointer: String
        package var state: Result<MatchScore, FeedError>
    }

    /// The state of each match of an answer, or what is wrong with it.
    ///
    /// A fault of a state's field has the pointer of that field, and says where in the answer its value is from. A value that cannot be
    /// mapped has its pointer in the answer.
    package func states(in answer: JSONValue) throws(FeedError) -> [Mapped] {
        let root = FeedPath.Location(pointer: "", value: answer)
        guard let matches else { return [map(root)] }
        let location = matches.location(from: root, in: root)
        guard let found = location.elements else {
            throw FeedError(
                pointer: location.pointer,
                detail: "An array of matches is expected here (\"each\"); there is \(location.found)."
            )
        }
        return found.map(map)
    }

    private func map(_ match: FeedPath.Location) -> Mapped {
        var run = FeedMappingRun(match: match)
        do throws(FeedError) {
            guard let json = try run.value(of: state, from: match, index: 0, at: "") else {
                throw FeedError(pointer: match.pointer, detail: "No path of the mapping finds anything here.")
            }
            do throws(FeedError) {
                return Mapped(pointer: match.pointer, state: .success(try MatchScore(json)))
            } catch {
                throw run.explained(error)
            }
        } catch {
            return Mapped(pointer: match.pointer, state: .failure(error))
        }
    }
}

extension FeedPath.Location {
    var found: String { value?.kind ?? "nothing" }
}

/// The mapping of one match.
struct FeedMappingRun {
    let match: FeedPath.Location
    /// For each field of the state: where in the answer it was looked for.
    private var origins: [String: String] = [:]

    init(match: FeedPath.Location) { self.match = match }

    /// Nil: the field is left out.
    mutating func value(
        of node: FeedMapping.Node,
        from element: FeedPath.Location,
        index: Int,
        at pointer: String
    ) throws(FeedError) -> JSONValue? {
        switch node {
        case .constant(let value): return value
        case .index(let first): return .integer(Int64(first + index))
        case .value(let path, let conversion):
            let location = path.location(from: element, in: match)
            origins[pointer] = location.pointer
            return try conversion.converted(location)
        case .lookup(let path, let list, let key, let value):
            let location = path.location(from: element, in: match)
            origins[pointer] = location.pointer
            guard let wanted = location.value.flatMap(FeedConversion.text) else { return nil }
            let candidates = list.location(from: element, in: match)
            let found = candidates.elements?.first { key.location(from: $0, in: match).value.flatMap(FeedConversion.text) == wanted }
            guard let found else {
                let detail = "No element of \(candidates.pointer) has the key \"\(wanted.prefix(100))\"."
                throw FeedError(pointer: location.pointer, detail: detail)
            }
            return value.location(from: found, in: match).value
        case .object(let members): return try object(members, from: element, index: index, at: pointer)
        case .list(let path, let conditions, let item):
            let location = path.location(from: element, in: match)
            origins[pointer] = location.pointer
            guard location.value != nil else { return nil }
            guard let elements = location.elements else {
                throw FeedError(pointer: location.pointer, detail: "An array is expected here (\"each\"); there is \(location.found).")
            }
            var values: [JSONValue] = []
            for element in elements where isWanted(element, conditions) {
                let value = try value(of: item, from: element, index: values.count, at: "\(pointer)/\(values.count)")
                values.append(value ?? .null)
            }
            return .array(values)
        }
    }

    /// An object of which no path finds anything is left out: a result before the end, a target in the first innings.
    private mutating func object(
        _ members: [String: FeedMapping.Node],
        from element: FeedPath.Location,
        index: Int,
        at pointer: String
    ) throws(FeedError) -> JSONValue? {
        var values: JSONMembers = [:]
        var isFound = false
        origins[pointer] = element.pointer
        for (name, node) in members.sorted(by: { $0.key < $1.key }) {
            guard let value = try value(of: node, from: element, index: index, at: "\(pointer)/\(name)") else { continue }
            values[name] = value
            if !node.isFixed { isFound = true }
        }
        return isFound || members.values.allSatisfy(\.isFixed) ? .object(values) : nil
    }

    private func isWanted(_ element: FeedPath.Location, _ conditions: [FeedPath: [String]]) -> Bool {
        conditions.allSatisfy { path, wanted in
            path.location(from: element, in: match).value.flatMap(FeedConversion.text).map(wanted.contains) ?? false
        }
    }

    /// With where the value is from, or was looked for.
    func explained(_ error: FeedError) -> FeedError {
        var pointer = error.pointer
        while origins[pointer] == nil, let slash = pointer.lastIndex(of: "/") { pointer = String(pointer[..<slash]) }
        var error = error
        error.detail += " In the answer: \(origins[pointer] ?? match.pointer)."
        return error
    }
}

extension FeedMapping.Node {
    /// The same whatever the answer holds.
    fileprivate var isFixed: Bool {
        switch self {
        case .constant, .index: true
        default: false
        }
    }
}
