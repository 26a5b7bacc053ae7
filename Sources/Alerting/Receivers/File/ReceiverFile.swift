package import AlertRules
import Foundation
import Yams

/// Reads `alerts/receivers.yml`: `receivers`, `routes`, `fallback`, `escalate` and `duty`. `alerts/receivers.example.yml` shows every setting.
///
/// Unknown keys are errors, so that a misspelt key does not lose a page.
package enum ReceiverFile {
    /// What is wrong, and where.
    struct Fault: Error, CustomStringConvertible {
        var path: String
        var line: Int?
        var message: String
        var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(message)" }
    }

    static func read(path: String, environment: [String: String]) throws -> ReceiverSet {
        try parse(try text(of: path), path: path, environment: environment)
    }

    static func parse(_ text: String, path: String = "receivers.yml", environment: [String: String] = [:]) throws -> ReceiverSet {
        try set(ReceiverYAML(path: path, environment: environment, missing: nil), text)
    }

    /// Findings about a file where its secrets are not available: `${NAME}` without a value is a warning here. None when there is no file.
    ///
    /// - Parameter rules: whose alerts the routes are for.
    package static func check(path: String, environment: [String: String], rules: [AlertRule]) -> [Finding] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let missing = ReceiverYAML.MissingNames()
        var findings: [Finding] = []
        do {
            let text = try text(of: path)
            let set = try set(ReceiverYAML(path: path, environment: environment, missing: missing), text)
            findings = try routeFindings(set, rules: rules, text, path: path)
        } catch let fault as Fault {
            return [Finding(.error, at: SourcePosition(file: path, line: fault.line ?? 1, column: 1), fault.message)]
        } catch {
            return [Finding(.error, at: SourcePosition(file: path, line: 1, column: 1), "\(error)")]
        }
        return findings
            + missing.names.map {
                Finding(.warning, at: SourcePosition(file: path, line: $0.line, column: 1), "the environment here has no \($0.name)")
            }
    }

    private static func routeFindings(_ set: ReceiverSet, rules: [AlertRule], _ text: String, path: String) throws -> [Finding] {
        let check = RouteCheck(set, rules: rules)
        let file = try Yams.compose(yaml: text)?.mapping
        func lines(_ list: Node?) -> [Int] { list?.sequence?.map { $0.mark?.line ?? 1 } ?? [] }
        func error(_ line: Int, _ message: String) -> Finding {
            Finding(.error, at: SourcePosition(file: path, line: line, column: 1), message)
        }
        let routes = zip(set.routes, lines(file?["routes"])).compactMap { route, line in check.problem(of: route).map { error(line, $0) } }
        let steps = lines(file?["escalate"]?["steps"]).enumerated().compactMap { index, line in
            check.problem(ofStep: index + 1).map { error(line, $0) }
        }
        // Who writes an empty list means nobody; it means everybody.
        let fallback = file?["fallback"].flatMap { node in
            node.sequence?.isEmpty == true
                ? error(
                    node.mark?.line ?? 1,
                    "an empty fallback is none: alerts that match no route go to every receiver; name receivers, or remove it"
                ) : nil
        }
        let tickets = check.silentTickets().map { Finding(.warning, at: SourcePosition(file: path, line: 1, column: 1), $0) }
        return routes + steps + [fallback, tickets].compactMap(\.self) + check.faults().map { error(1, $0) }
    }

    /// The routing, where the secrets are not available. Nil when there is no file; throws when it is broken.
    package static func routing(path: String) throws -> ReceiverSet? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try set(ReceiverYAML(path: path, environment: [:], missing: ReceiverYAML.MissingNames()), try text(of: path))
    }

    private static func text(of path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8) else {
            throw Fault(path: path, message: "cannot read this file as UTF-8")
        }
        return text
    }

    private static func set(_ yaml: ReceiverYAML, _ text: String) throws -> ReceiverSet {
        let root: Node?
        do { root = try Yams.compose(yaml: text) } catch {
            throw Fault(path: yaml.path, line: (error as? YamlError)?.line, message: "not YAML: \(YAMLFault.text(of: error))")
        }
        guard let root else { throw Fault(path: yaml.path, message: "the file is empty; `receivers: []` says that there are none") }
        let keys = try yaml.mapping(root, keys: ["receivers", "routes", "fallback", "escalate", "duty"])
        var receivers: [ReceiverConfiguration] = []
        for node in try yaml.list(keys["receivers"]) {
            let receiver = try ReceiverSettings(yaml: yaml).receiver(node)
            guard !receivers.contains(where: { $0.name == receiver.name }) else {
                throw yaml.fault(node, "the receiver '\(receiver.name)' is defined twice")
            }
            receivers.append(receiver)
        }
        let reader = RouteSettings(yaml: yaml, known: receivers.map(\.name))
        let duties = try DutySettings(yaml: yaml, receivers: reader).duties(keys["duty"])
        return ReceiverSet(
            receivers: receivers,
            routes: try yaml.list(keys["routes"]).map(reader.route),
            fallback: try yaml.list(keys["fallback"]).map(reader.receiver),
            escalation: try EscalationSettings(yaml: yaml, receivers: reader, duties: duties).policy(keys["escalate"], duty: keys["duty"])
        )
    }
}

extension YamlError {
    fileprivate var line: Int? {
        switch self {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
        default: nil
        }
    }
}
