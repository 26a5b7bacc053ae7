package import AlertRules
import Foundation
import ServiceKit
import Yams

/// Reads `alerts/receivers.yml`: `receivers`, `routes`, `fallback`, `escalate` and `duty`. `alerts/receivers.example.yml` contains every
/// setting.
///
/// Unknown keys are errors, so that a misspelt key does not lose a page.
package enum ReceiverFile {
    /// What is wrong, and where.
    struct Fault: Error, CustomStringConvertible {
        var path: String
        var line: Int?
        var column: Int?
        var message: String
        var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(message)" }
    }

    static func read(path: String, environment: [String: String]) throws -> ReceiverSet {
        try parse(try text(of: path), path: path, environment: environment)
    }

    static func parse(_ text: String, path: String = "receivers.yml", environment: [String: String] = [:]) throws -> ReceiverSet {
        try set(ReceiverYAML(path: path, environment: environment, missing: nil), text)
    }

    /// All findings about a file where its secrets are not available: `${NAME}` without a value is a warning here. None without a file.
    ///
    /// - Parameter rules: whose alerts the routes are for.
    package static func check(path: String, environment: [String: String], rules: [AlertRule]) -> [Finding] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let missing = ReceiverYAML.MissingNames()
        let all = ReceiverYAML.FaultList()
        var findings: [Finding] = []
        do {
            let text = try text(of: path)
            let set = try set(ReceiverYAML(path: path, environment: environment, missing: missing, all: all), text)
            // Where a receiver or a route is missing, what it would reach is not known.
            if all.faults.isEmpty { findings = try routeFindings(set, rules: rules, text, path: path) }
        } catch let fault as Fault {
            all.add(fault)
        } catch {
            return [Finding(.error, at: SourcePosition(file: path, line: 1, column: 1), "\(error)")]
        }
        findings += all.faults.map {
            Finding(.error, at: SourcePosition(file: path, line: $0.line ?? 1, column: $0.column ?? 1), $0.message)
        }
        findings += missing.names.map {
            Finding(.warning, at: SourcePosition(file: path, line: $0.line, column: $0.column), "the environment here has no \($0.name)")
        }
        return findings.sorted()
    }

    private static func routeFindings(_ set: ReceiverSet, rules: [AlertRule], _ text: String, path: String) throws -> [Finding] {
        let check = RouteCheck(set, rules: rules)
        let file = try Yams.compose(yaml: text)?.mapping
        func nodes(_ list: Node?) -> [Node] { list?.sequence.map { Array($0) } ?? [] }
        func error(_ node: Node?, _ message: String) -> Finding {
            Finding(.error, at: SourcePosition(file: path, line: node?.mark?.line ?? 1, column: node?.mark?.column ?? 1), message)
        }
        let routes = zip(set.routes, nodes(file?["routes"])).compactMap { route, node in check.problem(of: route).map { error(node, $0) } }
        let steps = nodes(file?["escalate"]?["steps"]).enumerated().compactMap { index, node in
            check.problem(ofStep: index + 1).map { error(node, $0) }
        }
        // An empty list is read as everybody, but its author means nobody.
        let fallback = file?["fallback"].flatMap { node in
            node.sequence?.isEmpty == true
                ? error(
                    node,
                    "an empty fallback is none: alerts that match no route go to every receiver; name receivers, or remove it"
                ) : nil
        }
        let tickets = check.silentTickets().map { Finding(.warning, at: SourcePosition(file: path, line: 1, column: 1), $0) }
        return routes + steps + [fallback, tickets].compactMap(\.self) + check.faults().map { error(nil, $0) }
    }

    /// The routing, where the secrets are not available. Nil when there is no file; throws when it is broken.
    package static func routing(path: String) throws -> ReceiverSet? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try set(ReceiverYAML(path: path, environment: [:], missing: ReceiverYAML.MissingNames()), try text(of: path))
    }

    private static func text(of path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8) else {
            throw Fault(path: path, message: "cannot read this file: \(FileFault.cause(path))")
        }
        return text
    }

    private static func set(_ yaml: ReceiverYAML, _ text: String) throws -> ReceiverSet {
        let root: Node?
        do { root = try Yams.compose(yaml: text) } catch {
            let position = YAMLFault.position(of: error)
            throw Fault(path: yaml.path, line: position?.line, column: position?.column, message: "not YAML: \(YAMLFault.text(of: error))")
        }
        guard let root else { throw Fault(path: yaml.path, message: "the file is empty; `receivers: []` says that there are none") }
        let keys = try yaml.mapping(root, keys: ["receivers", "routes", "fallback", "escalate", "duty"])
        var receivers: [ReceiverConfiguration] = []
        // With those that cannot be read: a route that names one is no further error.
        var known: [String] = []
        for node in try yaml.list(keys["receivers"]) {
            let receiver = try yaml.reading { () throws -> ReceiverConfiguration in
                let receiver = try ReceiverSettings(yaml: yaml).receiver(node)
                guard !known.contains(receiver.name) else { throw yaml.fault(node, "the receiver '\(receiver.name)' is defined twice") }
                return receiver
            }
            if let receiver { receivers.append(receiver) }
            if let name = receiver?.name ?? node["name"]?.scalar?.string { known.append(name) }
        }
        let reader = RouteSettings(yaml: yaml, known: known)
        let duties = try yaml.reading { try DutySettings(yaml: yaml, receivers: reader).duties(keys["duty"]) }
        var set = ReceiverSet(
            receivers: receivers,
            routes: try yaml.each(keys["routes"], reader.route),
            fallback: try yaml.each(keys["fallback"], reader.receiver)
        )
        // Its steps name the lists of `duty`.
        if let duties {
            let settings = EscalationSettings(yaml: yaml, receivers: reader, duties: duties)
            set.escalation = try yaml.reading { try settings.policy(keys["escalate"], duty: keys["duty"]) } ?? nil
        }
        return set
    }
}
