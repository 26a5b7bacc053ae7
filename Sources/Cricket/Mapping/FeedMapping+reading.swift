package import ServiceKit

/// Reads a mapping. Faults have the JSON pointer of what is wrong in it.
extension FeedMapping {
    package init(_ json: JSONValue) throws(FeedError) {
        var fields = try MappingFields(json, at: "")
        matches = try fields.path("each")
        guard let json = fields.take("state") else { throw fields.fault("state", "Add \"state\": the fields of a state and their paths.") }
        state = try Node(json, at: "/state")
        guard case .object = state else { throw fields.fault("state", "\"state\" is a mapping of fields to paths.") }
        try fields.finish(["each", "state"])
    }
}

extension FeedMapping.Node {
    private static let words: Set<String> = ["path", "constant", "index", "each"]

    fileprivate init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        if let text = json.string {
            guard let path = FeedPath(text) else {
                throw FeedError(
                    pointer: pointer,
                    detail: "\"\(text.prefix(100))\" is not a path: it begins with \"/\", or with \"^/\" to start from the match. "
                        + "For a fixed value write {constant: …}."
                )
            }
            self = .value(path, FeedConversion())
            return
        }
        var fields = try MappingFields(json, at: pointer)
        switch fields.first(of: FeedMapping.Node.words) {
        case "constant":
            self = .constant(fields.take("constant") ?? .null)
            try fields.finish(["constant"])
        case "index":
            guard let first = fields.take("index")?.integer, (0...1).contains(first) else {
                throw fields.fault("index", "\"index\" is the number of the first element: 0 or 1.")
            }
            self = .index(from: Int(first))
            try fields.finish(["index"])
        case "each": self = try FeedMapping.Node.list(&fields, at: pointer)
        case "path": self = try FeedMapping.Node.value(&fields, at: pointer)
        default:
            var members: [String: FeedMapping.Node] = [:]
            for (name, value) in fields.rest { members[name] = try FeedMapping.Node(value, at: "\(pointer)/\(name)") }
            self = .object(members)
        }
    }

    private static func list(_ fields: inout MappingFields, at pointer: String) throws(FeedError) -> FeedMapping.Node {
        let path = try fields.requiredPath("each")
        guard let item = fields.take("item") else { throw fields.fault("item", "Add \"item\": what each element becomes.") }
        var conditions: [FeedPath: [String]] = [:]
        if let json = fields.take("where") {
            guard let members = json.members else { throw fields.fault("where", "\"where\" is a mapping of paths to values.") }
            for (text, wanted) in members {
                guard let path = FeedPath(text) else { throw fields.fault("where", "\"\(text.prefix(100))\" is not a path.") }
                conditions[path] = (wanted.elements ?? [wanted]).compactMap(FeedConversion.text)
            }
        }
        try fields.finish(["each", "where", "item"])
        return .list(path, where: conditions, item: try FeedMapping.Node(item, at: "\(pointer)/item"))
    }

    private static func value(_ fields: inout MappingFields, at pointer: String) throws(FeedError) -> FeedMapping.Node {
        let path = try fields.requiredPath("path")
        if let json = fields.take("lookup") {
            var lookup = try MappingFields(json, at: "\(pointer)/lookup")
            let node = FeedMapping.Node.lookup(
                path,
                list: try lookup.requiredPath("in"),
                key: try lookup.requiredPath("key"),
                value: try lookup.requiredPath("value")
            )
            try lookup.finish(["in", "key", "value"])
            try fields.finish(["path", "lookup"])
            return node
        }
        var conversion = FeedConversion()
        if let json = fields.take("values") {
            guard let members = json.members else { throw fields.fault("values", "\"values\" is a mapping of the feed's values to ours.") }
            conversion.values = members
        }
        conversion.otherwise = fields.take("otherwise")
        guard conversion.otherwise == nil || conversion.values != nil else {
            throw fields.fault("otherwise", "\"otherwise\" goes with \"values\".")
        }
        if let json = fields.take("as") {
            guard let target = json.string.flatMap(FeedConversion.Target.init) else {
                let known = FeedConversion.Target.allCases.map(\.rawValue).joined(separator: ", ")
                throw fields.fault("as", "\"as\" must be one of \(known).")
            }
            conversion.target = target
        }
        if let json = fields.take("prefix") {
            guard let prefix = json.string else { throw fields.fault("prefix", "\"prefix\" is a text.") }
            conversion.prefix = prefix
        }
        try fields.finish(["path", "values", "otherwise", "as", "prefix"])
        return .value(path, conversion)
    }
}

/// The members of one mapping, taken one by one.
private struct MappingFields {
    private(set) var rest: JSONMembers
    private let pointer: String

    init(_ json: JSONValue, at pointer: String) throws(FeedError) {
        guard let members = json.members else {
            throw FeedError(pointer: pointer, detail: "A path or a mapping is expected here; there is \(json.kind).")
        }
        rest = members
        self.pointer = pointer
    }

    func first(of words: Set<String>) -> String? { rest.keys.first(where: words.contains) }

    /// Null counts as given: it says that a field is left out.
    mutating func take(_ name: String) -> JSONValue? { rest.removeValue(forKey: name) }

    mutating func path(_ name: String) throws(FeedError) -> FeedPath? {
        guard let json = take(name) else { return nil }
        guard let path = json.string.flatMap(FeedPath.init) else {
            throw fault(name, "\"\(name)\" is a path: it begins with \"/\", or with \"^/\" to start from the match.")
        }
        return path
    }

    mutating func requiredPath(_ name: String) throws(FeedError) -> FeedPath {
        guard let path = try path(name) else { throw fault(name, "Add the path \"\(name)\".") }
        return path
    }

    func finish(_ known: [String]) throws(FeedError) {
        guard let unknown = rest.keys.first else { return }
        throw fault(unknown, "\"\(unknown.prefix(100))\" is not known here; known are \(known.joined(separator: ", ")).")
    }

    func fault(_ name: String, _ detail: String) -> FeedError { FeedError(pointer: "\(pointer)/\(name)", detail: detail) }
}
