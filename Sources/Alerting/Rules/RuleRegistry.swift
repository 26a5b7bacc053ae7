package import AlertRules
import Foundation
package import Logging
import Metrics
import Synchronization

/// The rules in force, read from an alerts directory and read again when a file changes.
///
/// A set with an error never replaces one without: the old rules stay, and `findings` say why. Safe to use from any task.
package final class RuleRegistry: Sendable {
    private struct State {
        var rules: [AlertRule]
        var findings: [Finding]
        var stamp: DirectoryStamp
        /// Since when this process has known each rule by its name; rules without an entry have been in force since the start.
        var knownSince: [String: ContinuousClock.Instant] = [:]

        mutating func note(_ rules: [AlertRule], at now: ContinuousClock.Instant = .now) {
            self.rules = rules
            knownSince = Dictionary(rules.map { ($0.name, knownSince[$0.name] ?? now) }) { first, _ in first }
        }
    }

    private let directory: AlertsDirectory?
    private let logger: Logger
    private let state: Mutex<State>
    private let loaded = Gauge(label: "pushwatch_alert_rules_loaded")
    private let broken = Gauge(label: "pushwatch_alert_rules_broken")

    /// Reads `directory/rules`; rules without errors are in force even when others have some.
    package init(directory path: String, logger: Logger) {
        let directory = AlertsDirectory(path: path)
        self.directory = directory
        self.logger = logger
        let stamp = DirectoryStamp.of("\(path)/rules")
        let set = directory.ruleSet()
        var first = State(rules: [], findings: set.findings, stamp: stamp)
        first.note(set.rules)
        state = Mutex(first)
        report(set.findings)
    }

    /// Fixed rules, for tests and backtests.
    package init(rules: [AlertRule], logger: Logger = Logger(label: "pushwatch.alerting")) {
        directory = nil
        self.logger = logger
        state = Mutex(State(rules: rules, findings: [], stamp: DirectoryStamp(entries: [])))
    }

    package var rules: [AlertRule] { state.withLock { $0.rules } }

    /// Those that this process has known for longer than `wait`.
    package func rules(knownFor wait: Duration, at now: ContinuousClock.Instant = .now) -> [AlertRule] {
        state.withLock { state in state.rules.filter { rule in state.knownSince[rule.name].map { now - $0 > wait } ?? true } }
    }

    /// Errors and warnings about the files as they are now; with errors, `rules` are older than the files.
    package var findings: [Finding] { state.withLock { $0.findings } }

    package var isBroken: Bool { findings.contains { $0.severity == .error } }

    package subscript(name: String) -> AlertRule? { rules.first { $0.name == name } }

    /// Reads all files again if one changed since the last call.
    package func refresh() {
        guard let directory else { return }
        let stamp = DirectoryStamp.of("\(directory.path)/rules")
        guard stamp != state.withLock({ $0.stamp }) else { return }
        let set = directory.ruleSet()
        state.withLock {
            $0.stamp = stamp
            $0.findings = set.findings
            if !set.hasErrors { $0.note(set.rules) }
        }
        report(set.findings)
    }

    private func report(_ findings: [Finding]) {
        let errors = findings.filter { $0.severity == .error }
        loaded.record(rules.count)
        broken.record(errors.count)
        for finding in errors { logger.error("an alert rule is broken", metadata: ["error": "\(finding)"]) }
        logger.info("alert rules read", metadata: ["rules": "\(rules.count)", "errors": "\(errors.count)"])
    }
}
