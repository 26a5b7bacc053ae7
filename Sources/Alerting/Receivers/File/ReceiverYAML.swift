import AlertRules
import Foundation
import Synchronization
import Yams

/// Nodes of `receivers.yml` as values, with errors that name the line.
struct ReceiverYAML {
    /// Environment variables that a file names and that are not set.
    final class MissingNames: Sendable {
        struct Name: Hashable {
            var name: String
            var line: Int
            var column: Int
        }

        private let found = Mutex<[Name]>([])
        var names: [Name] { found.withLock { $0 } }
        func add(_ name: Name) { found.withLock { $0.append(name) } }
    }

    /// The faults of a file that is read to its end despite them.
    final class FaultList: Sendable {
        private let found = Mutex<[ReceiverFile.Fault]>([])
        var faults: [ReceiverFile.Fault] { found.withLock { $0 } }
        func add(_ fault: ReceiverFile.Fault) { found.withLock { $0.append(fault) } }
    }

    /// In place of a variable that is not set here; such a text cannot be checked.
    static let unknown = "\u{FFFD}"

    let path: String
    let environment: [String: String]
    /// Nil: a name without a value is an error.
    let missing: MissingNames?
    /// Nil: the first fault ends the reading.
    var all: FaultList?

    func mapping(_ node: Node, keys known: [String]) throws -> [String: Node] {
        try mapping(node, known: known)
    }

    /// A mapping of free names to texts.
    func texts(_ node: Node?) throws -> [String: String] {
        guard let node else { return [:] }
        return try mapping(node, known: nil).mapValues { value in
            guard let text = value.scalar?.string, !text.isEmpty else { throw fault(value, "expected a text") }
            return text
        }
    }

    func list(_ node: Node?) throws -> [Node] {
        guard let node else { return [] }
        guard let sequence = node.sequence else { throw fault(node, "expected a list") }
        return Array(sequence)
    }

    /// The value of `read` for each node of a list. Where all faults are collected, what cannot be read is left out.
    func each<Value>(_ node: Node?, _ read: (Node) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        for node in try reading({ try list(node) }) ?? [] {
            if let value = try reading({ try read(node) }) { values.append(value) }
        }
        return values
    }

    /// What `read` returns. Where all faults are collected, nil for what cannot be read.
    func reading<Value>(_ read: () throws -> Value) throws -> Value? {
        do {
            return try read()
        } catch let fault as ReceiverFile.Fault {
            guard let all else { throw fault }
            all.add(fault)
            return nil
        }
    }

    /// A string in which every `${NAME}` is replaced.
    func text(_ node: Node?, of key: String, at parent: Node) throws -> String {
        guard let node, let written = node.scalar?.string, !written.isEmpty else { throw fault(node ?? parent, "'\(key)' is missing") }
        var text = ""
        var rest = written[...]
        // Values of variables are not searched for placeholders.
        while let start = rest.range(of: "${"), let end = rest.range(of: "}", range: start.upperBound..<rest.endIndex) {
            text += rest[..<start.lowerBound]
            text += try value(String(rest[start.upperBound..<end.lowerBound]), of: key, at: node)
            rest = rest[end.upperBound...]
        }
        return text + rest
    }

    func optionalText(_ node: Node?, of key: String, at parent: Node) throws -> String? {
        try node.map { try text($0, of: key, at: parent) }
    }

    /// A text that begins with one of `schemes` and has a host.
    func url(_ node: Node?, of key: String, at parent: Node, schemes: [String] = ["https", "http"]) throws -> String {
        let text = try text(node, of: key, at: parent)
        guard !text.contains(Self.unknown) else { return text }
        guard let url = URL(string: text), schemes.contains(url.scheme ?? ""), url.host()?.isEmpty == false else {
            let prefixes = schemes.map { $0 + "://" }.joined(separator: " or ")
            throw fault(node ?? parent, "\(key) must begin with \(prefixes), and name a host")
        }
        return text
    }

    func fault(_ node: Node, _ message: String) -> ReceiverFile.Fault {
        ReceiverFile.Fault(path: path, line: node.mark?.line, column: node.mark?.column, message: message)
    }

    private func mapping(_ node: Node, known: [String]?) throws -> [String: Node] {
        guard let mapping = node.mapping else {
            throw fault(node, known.map { "expected a mapping with \($0.joined(separator: ", "))" } ?? "expected names with texts")
        }
        var result: [String: Node] = [:]
        var unknown: [ReceiverFile.Fault] = []
        for (key, value) in mapping {
            if let name = key.string, known?.contains(name) ?? true {
                result[name] = value
            } else {
                unknown.append(fault(key, unknownKey(key.string ?? "?", known ?? [])))
            }
        }
        guard let first = unknown.first else { return result }
        for fault in unknown.dropFirst() { all?.add(fault) }
        throw first
    }

    private func unknownKey(_ name: String, _ known: [String]) -> String {
        let hint = Nearest.name(to: name, among: known).map { "did you mean '\($0)'? " } ?? ""
        return "unknown key '\(name)'; \(hint)known: \(known.joined(separator: ", "))"
    }

    private func value(_ name: String, of key: String, at node: Node) throws -> String {
        if let value = environment[name], !value.isEmpty { return value }
        guard let missing else { throw fault(node, "'\(key)': the environment has no \(name)") }
        missing.add(MissingNames.Name(name: name, line: node.mark?.line ?? 1, column: node.mark?.column ?? 1))
        return Self.unknown
    }
}
