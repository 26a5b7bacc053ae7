import Yams

/// Reads one YAML mapping key by key. Unknown keys are errors, and every error has the place of the offending text.
struct MappingReader {
    let file: String
    /// The path of keys to the mapping; empty at the top.
    let path: String
    let position: SourcePosition
    let findings: FindingCollector
    private let values: [String: (key: Node, value: Node)]

    /// Nil, with a finding, when the node is no mapping. `known` are the keys that may appear; nil allows any.
    init?(_ node: Node?, at fallback: SourcePosition, path: String, known: [String]?, findings: FindingCollector) {
        file = fallback.file
        self.path = path
        self.findings = findings
        position = node.map { Self.position(of: $0, file: fallback.file) } ?? fallback
        guard case .mapping(let mapping)? = node else {
            findings.error(at: position, key: path.isEmpty ? nil : path, "expected keys and values (a mapping)")
            return nil
        }
        var values: [String: (key: Node, value: Node)] = [:]
        for (key, value) in mapping {
            guard let name = key.scalar?.string else {
                findings.error(at: Self.position(of: key, file: fallback.file), key: path, "a key must be plain text")
                continue
            }
            values[name] = (key, value)
            if let known, !known.contains(name) {
                let hint = Nearest.name(to: name, among: known).map { "did you mean '\($0)'? " } ?? ""
                let text = "unknown key '\(name)'; \(hint)known: \(known.joined(separator: ", "))"
                findings.error(at: Self.position(of: key, file: fallback.file), key: Self.join(path, name), text)
            }
        }
        self.values = values
    }

    var keys: [String] { values.keys.sorted() }

    func has(_ key: String) -> Bool { values[key] != nil }
    func node(_ key: String) -> Node? { values[key]?.value }
    func name(_ key: String) -> String { Self.join(path, key) }

    func isEmptyList(_ key: String) -> Bool { node(key)?.sequence?.isEmpty == true }
    func isText(_ key: String, _ text: String) -> Bool { node(key)?.scalar?.string == text }

    /// Where the value of a key begins; where the mapping begins when there is none.
    func position(of key: String) -> SourcePosition {
        values[key].map { Self.position(of: $0.value, file: file) } ?? position
    }

    /// The position of the key itself.
    func keyPosition(of key: String) -> SourcePosition {
        values[key].map { Self.position(of: $0.key, file: file) } ?? position
    }

    func error(_ key: String, _ message: String) { findings.error(at: position(of: key), key: name(key), message) }
    func warning(_ key: String, _ message: String) { findings.warning(at: position(of: key), key: name(key), message) }

    /// Adds an error about a missing key, at the position of the mapping.
    func missing(_ key: String, _ why: String) {
        findings.error(at: position, key: name(key), "missing; \(why)")
    }

    /// The text of a scalar; nil when the key is absent, and nil with a finding when it is no scalar or empty.
    func text(_ key: String) -> String? {
        guard let node = node(key) else { return nil }
        guard let text = node.scalar?.string, !text.isEmpty else {
            error(key, "expected a text")
            return nil
        }
        return text
    }

    /// A value with its own notation, which `expected` describes in the error.
    func value<Value>(_ key: String, _ expected: String, _ parse: (String) -> Value?) -> Value? {
        guard let text = text(key) else { return nil }
        if let value = parse(text) { return value }
        error(key, "'\(text)' is not \(expected)")
        return nil
    }

    /// One text or a list of texts, each with its position; empty, with a finding, when it is neither.
    func texts(_ key: String) -> [(text: String, position: SourcePosition)] {
        guard let node = node(key) else { return [] }
        let nodes: [Node] = node.sequence.map { Array($0) } ?? [node]
        let texts = nodes.compactMap { node in
            node.scalar.map { (text: $0.string, position: Self.position(of: node, file: file)) }
        }
        guard texts.count == nodes.count, !texts.isEmpty, texts.allSatisfy({ !$0.text.isEmpty }) else {
            error(key, "expected a text or a list of texts")
            return []
        }
        return texts
    }

    /// A list; empty, with a finding, when it is none.
    func list(_ key: String) -> [Node] {
        guard let node = node(key) else { return [] }
        guard let sequence = node.sequence else {
            error(key, "expected a list")
            return []
        }
        return Array(sequence)
    }

    /// `mayBeEmpty`: the key alone is enough, everything has a default.
    func mapping(_ key: String, known: [String]?, mayBeEmpty: Bool = false) -> MappingReader? {
        let node = node(key)
        let isEmpty = mayBeEmpty && ["", "~", "null"].contains(node?.scalar?.string)
        return MappingReader(
            isEmpty ? Node([(Node, Node)]()) : node,
            at: keyPosition(of: key),
            path: name(key),
            known: known,
            findings: findings
        )
    }

    static func position(of node: Node, file: String) -> SourcePosition {
        SourcePosition(file: file, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1)
    }

    private static func join(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}
