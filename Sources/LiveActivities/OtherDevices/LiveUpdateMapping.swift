import ServiceKit

/// What a Live Update shows of a state: texts with `{names}` of the type's attributes and state, and the parts of Android's
/// `ProgressStyle`.
struct LiveUpdateMapping: Sendable, Hashable {
    /// Where a number of the state comes from.
    enum Number: Sendable, Hashable {
        case fixed(Double)
        case member(String)
        /// The number for the text of a member.
        case values(of: String, [String: Double])
    }

    /// A list, or the name of the member that is one.
    enum List: Sendable, Hashable {
        case fixed([JSONValue])
        case member(String)
    }

    enum Chronometer: String, Sendable, Hashable, CaseIterable {
        case up, down
    }

    var title: String?
    var text: String?
    var shortText: String?
    var progress: Number?
    var progressMax: Number?
    var segments: List?
    var points: List?
    /// The member with a moment in Unix seconds.
    var when: String?
    var chronometer: Chronometer?
}

extension LiveUpdateMapping {
    init(_ file: JSONValue, known: Set<String>, at pointer: String) throws(SchemaError) {
        let reader = Reader(known: known)
        let members = try OtherDevicesPolicy.members(
            file,
            ["title", "text", "shortText", "progress", "progressMax", "segments", "points", "when", "chronometer"],
            at: pointer
        )
        title = try reader.template(members["title"], at: "\(pointer)/title")
        text = try reader.template(members["text"], at: "\(pointer)/text")
        shortText = try reader.template(members["shortText"], at: "\(pointer)/shortText")
        progress = try reader.number(members["progress"], at: "\(pointer)/progress")
        progressMax = try reader.number(members["progressMax"], at: "\(pointer)/progressMax")
        segments = try reader.list(members["segments"], at: "\(pointer)/segments")
        points = try reader.list(members["points"], at: "\(pointer)/points")
        if let value = members["when"] { when = try reader.name(value, at: "\(pointer)/when") }
        chronometer = try OtherDevicesPolicy.choice(members["chronometer"], at: "\(pointer)/chronometer")
    }

    private struct Reader {
        var known: Set<String>

        func name(_ value: JSONValue, at pointer: String) throws(SchemaError) -> String {
            guard let name = value.string, known.contains(name) else {
                throw SchemaError(pointer: pointer, message: "this is the name of a property of attributes or contentState")
            }
            return name
        }

        func template(_ value: JSONValue?, at pointer: String) throws(SchemaError) -> String? {
            guard let value else { return nil }
            guard let text = value.string else { throw SchemaError(pointer: pointer, message: "this is a text") }
            for name in LiveUpdateMapping.names(in: text) where !known.contains(name) {
                throw SchemaError(pointer: pointer, message: "neither attributes nor contentState has a property \"\(name)\"")
            }
            return text
        }

        func number(_ value: JSONValue?, at pointer: String) throws(SchemaError) -> Number? {
            guard let value else { return nil }
            if let number = value.number { return .fixed(number) }
            if value.string != nil { return .member(try name(value, at: pointer)) }
            let members = try OtherDevicesPolicy.members(value, ["of", "values"], at: pointer)
            var values: [String: Double] = [:]
            for (key, value) in members["values"]?.members ?? [:] {
                guard let number = value.number else { throw SchemaError(pointer: "\(pointer)/values/\(key)", message: "this is a number") }
                values[key] = number
            }
            return .values(of: try name(members["of"] ?? .null, at: "\(pointer)/of"), values)
        }

        /// Lengths or positions, as numbers or as objects with a colour.
        func list(_ value: JSONValue?, at pointer: String) throws(SchemaError) -> List? {
            guard let value else { return nil }
            guard case .array(let items) = value else { return .member(try name(value, at: pointer)) }
            return .fixed(items)
        }
    }

    /// The names in braces.
    static func names(in template: String) -> [String] {
        template.split(separator: "{", omittingEmptySubsequences: false).dropFirst().compactMap { part in
            part.firstIndex(of: "}").map { String(part[..<$0]) }
        }
    }
}
