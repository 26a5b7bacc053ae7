import AlertRules
import Foundation
import Yams

/// Reads `alerts/receivers.yml`:
///
///     receivers:
///       - name: on-call
///         webhook: { url: "https://example.org/hook", secret: "${WEBHOOK_SECRET}" }
///       - name: log
///         log: {}
///     routes:
///       - severity: [critical, page]
///         receivers: [on-call]
///
/// Unknown keys are errors, so that a misspelt one is not a page that goes nowhere.
enum ReceiverFile {
    /// What is wrong, and where.
    struct Fault: Error, CustomStringConvertible {
        var path: String
        var line: Int?
        var message: String
        var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(message)" }
    }

    static func read(path: String, environment: [String: String]) throws -> ReceiverSet {
        guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8) else {
            throw Fault(path: path, message: "cannot read this file as UTF-8")
        }
        return try parse(text, path: path, environment: environment)
    }

    static func parse(_ text: String, path: String = "receivers.yml", environment: [String: String] = [:]) throws -> ReceiverSet {
        let root: Node?
        do { root = try Yams.compose(yaml: text) } catch { throw Fault(path: path, message: "not YAML: \(error)") }
        guard let root else { return ReceiverSet(receivers: []) }
        let reader = Reader(path: path, environment: environment)
        let keys = try reader.mapping(root, keys: ["receivers", "routes"])
        let receivers = try reader.list(keys["receivers"]).map(reader.receiver)
        let names = receivers.map(\.name)
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw Fault(path: path, message: "the receiver '\(twice)' is defined twice")
        }
        return ReceiverSet(receivers: receivers, routes: try reader.list(keys["routes"]).map { try reader.route($0, known: names) })
    }
}

private struct Reader {
    let path: String
    let environment: [String: String]

    func receiver(_ node: Node) throws -> ReceiverConfiguration {
        let keys = try mapping(node, keys: ["name", "webhook", "log"])
        let name = try text(keys["name"], of: "name", at: node)
        switch (keys["webhook"], keys["log"]) {
        case (let webhook?, nil):
            let settings = try mapping(webhook, keys: ["url", "secret"])
            let url = try text(settings["url"], of: "webhook.url", at: webhook)
            guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
                throw fault(webhook, "webhook.url must begin with https:// or http://")
            }
            let secret = try settings["secret"].map { try text($0, of: "webhook.secret", at: webhook) }
            return .webhook(name, url: url, secret: secret)
        case (nil, .some): return ReceiverConfiguration(name: name, kind: .log)
        default: throw fault(node, "the receiver '\(name)' needs exactly one of webhook, log")
        }
    }

    func route(_ node: Node, known: [String]) throws -> AlertRoute {
        let keys = try mapping(node, keys: ["severity", "receivers"])
        let severities = try list(keys["severity"]).map { node -> Severity in
            guard let severity = Severity(rawValue: node.string ?? "") else {
                throw fault(node, "unknown severity; known: \(Severity.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return severity
        }
        let receivers = try list(keys["receivers"]).map { node -> String in
            guard let name = node.string, known.contains(name) else { throw fault(node, "a route names a receiver that is not defined") }
            return name
        }
        guard !receivers.isEmpty else { throw fault(node, "a route needs receivers") }
        return AlertRoute(severities: Set(severities), receivers: receivers)
    }

    func mapping(_ node: Node, keys known: [String]) throws -> [String: Node] {
        guard let mapping = node.mapping else { throw fault(node, "expected a mapping with \(known.joined(separator: ", "))") }
        var result: [String: Node] = [:]
        for (key, value) in mapping {
            guard let name = key.string, known.contains(name) else {
                throw fault(key, "unknown key '\(key.string ?? "?")'; known: \(known.joined(separator: ", "))")
            }
            result[name] = value
        }
        return result
    }

    func list(_ node: Node?) throws -> [Node] {
        guard let node else { return [] }
        guard let sequence = node.sequence else { throw fault(node, "expected a list") }
        return Array(sequence)
    }

    /// A string in which every `${NAME}` is replaced; a name that is not set is an error.
    private func text(_ node: Node?, of key: String, at parent: Node) throws -> String {
        guard let node, var text = node.string, !text.isEmpty else { throw fault(node ?? parent, "'\(key)' is missing") }
        while let start = text.range(of: "${"), let end = text.range(of: "}", range: start.upperBound..<text.endIndex) {
            let name = String(text[start.upperBound..<end.lowerBound])
            guard let value = environment[name] else { throw fault(node, "'\(key)': the environment has no \(name)") }
            text.replaceSubrange(start.lowerBound..<end.upperBound, with: value)
        }
        return text
    }

    private func fault(_ node: Node, _ message: String) -> ReceiverFile.Fault {
        ReceiverFile.Fault(path: path, line: node.mark?.line, message: message)
    }
}
