import AlertRules
import Alerting
import ArgumentParser
import Audit
import CommandLineKit
import Foundation
import Postgres
import PushContract

extension AlertsCommand {
    /// `pushwatch alerts list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the firing alerts, the most severe first.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Resolved alerts too.") var all = false
        @Option(help: "Resolved alerts at most.") var limit = 50
        @Flag(help: "Print JSON, as GET /alerts returns it.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                let open = try await AlertStore.open(on: pool)
                let alerts = open + (all ? try await AlertStore.resolved(limit: max(1, limit), on: pool) : [])
                if json { return try Terminal.printLine(json: AlertListDocument(alerts: alerts)) }
                guard !alerts.isEmpty else { return Terminal.printLine("No alert is firing.") }
                let rows = alerts.map {
                    [
                        $0.shortId, $0.severity.rawValue, $0.stateText, $0.rule, $0.group.description, $0.startsAt.rfc3339,
                        $0.annotations["summary"] ?? "",
                    ]
                }
                Terminal.printLine(TextTable(["ID", "SEVERITY", "STATE", "RULE", "GROUP", "SINCE", "SUMMARY"], rows).text)
            }
        }
    }

    /// `pushwatch alerts show ID`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show one alert: evidence, advice, and its notifications.")

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The alert's id, or its beginning.") var id: String
        @Flag(help: "Print JSON, as GET /alerts/ID returns it.") var json = false

        func run() async throws {
            try await options.withPool { pool, configuration in
                let alert = try await AlertsCommand.alert(id, on: pool)
                if json { return try Terminal.printLine(json: try await AlertDetailDocument.read(alert, on: pool)) }
                Terminal.printLine(alert.description)
                let notifications = try await NotificationHistory.notifications(of: alert.id, on: pool)
                let rows = notifications.map { [$0.receiver, $0.kind, $0.state, "\($0.attempts)", $0.lastError ?? ""] }
                Terminal.printLine("\nNotifications\n" + TextTable(["RECEIVER", "KIND", "STATE", "ATTEMPTS", "LAST ERROR"], rows).text)
                var steps = try await EscalationStore.history(of: alert.id, on: pool).map {
                    [$0.at.rfc3339, $0.text, $0.receivers.joined(separator: ", ")]
                }
                if let next = try await EscalationStore.nextStep(of: alert.id, ReceiverRegistry(configuration).set, on: pool) {
                    let names = next.escalation.receivers.joined(separator: ", ")
                    steps.append([next.at.rfc3339, "step \(next.escalation.step), unless it is acknowledged", names])
                }
                if !steps.isEmpty { Terminal.printLine("\nEscalation\n" + TextTable(["AT", "STEP", "RECEIVERS"], steps).text) }
                let attempts = try await NotificationHistory.notificationAttempts(of: alert.id, on: pool).map {
                    [
                        $0.attemptedAt.rfc3339, $0.receiver, $0.kind, $0.result, $0.status.map(String.init) ?? "–", "\($0.latencyMs) ms",
                        $0.error ?? "",
                    ]
                }
                Terminal.printLine(
                    "\nNotification attempts\n" + TextTable(["AT", "RECEIVER", "KIND", "RESULT", "STATUS", "TOOK", "ERROR"], attempts).text
                )
                Terminal.printLine("\nThe same numbers in psql\n" + alert.reproduceSQL)
            }
        }
    }

    /// `pushwatch alerts ack ID`
    struct Acknowledge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ack",
            abstract: "Acknowledge an alert: a person works on it, and it is not escalated."
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The alert's id, or its beginning.") var id: String
        @Option(help: "Who acknowledges it.") var author: String = NSUserName()
        @Flag(help: "Print JSON, as POST /alerts/ID/acknowledge returns it.") var json = false

        func run() async throws {
            try await options.withPool { pool, _ in
                let alert = try await AlertsCommand.alert(id, on: pool)
                guard try await AlertStore.acknowledge(alert.id, recording: AuditRecorder(by: author), on: pool) != .notOpen else {
                    throw CommandFailure.check("This alert is resolved; there is nothing to acknowledge.")
                }
                let now = try await AlertsCommand.alert(alert.id.uuidString.lowercased(), on: pool)
                if json { return try Terminal.printLine(json: AlertDocument(now)) }
                Terminal.printLine("\(now.shortId) \(now.rule) is acknowledged by \(now.acknowledgedBy ?? author).")
            }
        }
    }
}

extension Alert {
    fileprivate var shortId: String { String(id.uuidString.lowercased().prefix(8)) }

    fileprivate var stateText: String {
        if state == .resolved { return "resolved" }
        if silencedBy != nil { return "silenced" }
        if suppressedBy != nil { return "suppressed" }
        return acknowledgedAt == nil ? "firing" : "acknowledged"
    }

    fileprivate var description: String {
        var lines = ["\(rule) \(group)  \(severity.rawValue)  \(stateText)", annotations["summary"] ?? "", ""]
        func add(_ name: String, _ value: String?) {
            if let value { lines.append(name.padding(toLength: 14, withPad: " ", startingAt: 0) + value) }
        }
        add("Id", id.uuidString.lowercased())
        add("Cause", causeText)
        if !isBuiltIn {
            add("Observed", text(evidence.observedText, evidence.observed))
            add("Threshold", evidence.thresholdPhrase)
        }
        add("Expected", evidence.expectedText)
        add("Worst", evidence.worst == evidence.observed ? nil : text(evidence.worstText, evidence.worst))
        add("Open circuits", evidence.openCircuitsText)
        add("Since", startsAt.rfc3339)
        add("Fired", firedAt.rfc3339 + (detectedLateBySeconds < 60 ? "" : "  found \(detectedLateBySeconds / 60) min late"))
        add("Resolved", resolvedAt.map { "\($0.rfc3339)  \(resolvedReason ?? "")" })
        add("Acknowledged", acknowledgedAt.map { "\($0.rfc3339)  \(acknowledgedBy ?? "")" })
        add("Meaning", annotations["meaning"])
        add("What to do", annotations["action"])
        add("Runbook", annotations["runbook"])
        add("Suppressed by", suppressedBy?.name)
        add("Silenced by", silencedBy?.uuidString.lowercased())
        add("No data since", noDataSince.map { "\($0.rfc3339)  too few attempts to prove a recovery" })
        add("Revised", revised ? "late attempts changed the numbers it fired with" : nil)
        add("Devices", affected?.text)
        add("Backlog", backlog?.text { $0 < 120 ? "\($0) s" : "\($0 / 60) min" })
        for contributor in contributors { add("Affected", contributor.text) }
        add("Rule version", ruleVersion)
        return lines.joined(separator: "\n")
    }

    /// `6 % (90 of 1500 attempts) from 2026-01-05T12:20:00Z for 15 min`; a backlog has no counts.
    private func text(_ observed: String, _ window: WindowCounts) -> String {
        let counts = evidence.level.showsCounts(of: window) ? " (\(window.counts.bad) of \(window.counts.attempts) attempts)" : ""
        return "\(observed)\(counts) from \(window.first.timestamp.rfc3339) for \(window.minutes) min"
    }
}
