import AlertRules
import Alerting
import ArgumentParser
import Foundation
import Postgres
import PushContract

extension AlertsCommand {
    /// `pushwatch alerts list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "All that fire, the worst first; with --all those that are over too.")

        @OptionGroup var options: Options
        @Flag(help: "Those that are over too.") var all = false
        @Option(help: "How many of those that are over, at most.") var limit = 50

        func run() async throws {
            try await options.withDatabase { pool, _ in
                let open = try await AlertStore.open(on: pool)
                let alerts = open + (all ? try await AlertStore.resolved(limit: max(1, limit), on: pool) : [])
                if options.json { return try options.printLine(json: AlertListDocument(alerts: alerts)) }
                guard !alerts.isEmpty else { return Terminal.printLine("Nothing fires.") }
                let rows = alerts.map {
                    [
                        $0.shortId, $0.severity.rawValue, $0.standing, $0.rule, $0.group.description, $0.startsAt.rfc3339,
                        $0.annotations["summary"] ?? "",
                    ]
                }
                Terminal.printLine(TextTable(["ID", "SEVERITY", "STATE", "RULE", "GROUP", "SINCE", "SUMMARY"], rows).text)
            }
        }
    }

    /// `pushwatch alerts show ID`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Everything about one alert, and what each receiver was told.")

        @OptionGroup var options: Options
        @Argument(help: "The alert's id, or its beginning.") var id: String

        func run() async throws {
            try await options.withDatabase { pool, _ in
                let alert = try await options.alert(id, on: pool)
                if options.json { return try options.printLine(json: try await AlertDetailDocument.read(alert, on: pool)) }
                Terminal.printLine(alert.description)
                let notifications = try await NotificationHistory.notifications(of: alert.id, on: pool)
                let rows = notifications.map { [$0.receiver, $0.kind, $0.state, "\($0.attempts)", $0.lastError ?? ""] }
                Terminal.printLine("\nReceivers\n" + TextTable(["RECEIVER", "MESSAGE", "STATE", "TRIES", "LAST ERROR"], rows).text)
                let tries = try await NotificationHistory.notificationAttempts(of: alert.id, on: pool).map {
                    [
                        $0.attemptedAt.rfc3339, $0.receiver, $0.kind, $0.result, $0.status.map(String.init) ?? "–", "\($0.latencyMs) ms",
                        $0.error ?? "",
                    ]
                }
                Terminal.printLine("\nTries\n" + TextTable(["AT", "RECEIVER", "MESSAGE", "RESULT", "STATUS", "TOOK", "ERROR"], tries).text)
                Terminal.printLine("\nThe numbers again, in psql\n" + alert.reproduceSQL)
            }
        }
    }

    /// `pushwatch alerts ack ID`
    struct Acknowledge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "ack", abstract: "Say that somebody works on an alert.")

        @OptionGroup var options: Options
        @Argument(help: "The alert's id, or its beginning.") var id: String
        @Option(help: "Who does.") var by: String = NSUserName()

        func run() async throws {
            try await options.withDatabase { pool, _ in
                let alert = try await options.alert(id, on: pool)
                guard try await AlertStore.acknowledge(alert.id, by: by, at: .now(), on: pool) else {
                    throw CommandFailure.check("This alert is resolved already; there is nothing to acknowledge.")
                }
                let now = try await options.alert(alert.id.uuidString.lowercased(), on: pool)
                if options.json { return try options.printLine(json: AlertDocument(now)) }
                Terminal.printLine("\(now.shortId) \(now.rule) is acknowledged by \(now.acknowledgedBy ?? by).")
            }
        }
    }

    /// `pushwatch receivers retry NAME`
    struct Retry: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Send again what a receiver refused, once it is repaired.")

        @OptionGroup var options: Options
        @Argument(help: "The receiver's name.") var receiver: String

        func run() async throws {
            try await options.withDatabase { pool, _ in
                let count = try await NotificationHistory.retry(receiver, now: .now(), on: pool)
                if options.json { return try options.printLine(json: ["retried": count]) }
                Terminal.printLine(count == 0 ? "No dead-lettered notifications for \(receiver)." : "\(count) messages wait for \(receiver) again.")
            }
        }
    }
}

extension Alert {
    fileprivate var shortId: String { String(id.uuidString.lowercased().prefix(8)) }

    fileprivate var standing: String {
        if state == .resolved { return "resolved" }
        if silencedBy != nil { return "silenced" }
        if suppressedBy != nil { return "suppressed" }
        return acknowledgedAt == nil ? "firing" : "acknowledged"
    }

    fileprivate var description: String {
        var lines = ["\(rule) \(group)  \(severity.rawValue)  \(standing)", annotations["summary"] ?? "", ""]
        func add(_ name: String, _ value: String?) {
            if let value { lines.append(name.padding(toLength: 14, withPad: " ", startingAt: 0) + value) }
        }
        add("Id", id.uuidString.lowercased())
        add("Observed", text(evidence.observedText, evidence.observed))
        add("Threshold", evidence.thresholdText)
        add("Expected", evidence.expected.map(Fraction.rounded))
        add("Worst", evidence.worst == evidence.observed ? nil : text(evidence.worstText, evidence.worst))
        add("Waits", evidence.openCircuitsText)
        add("Since", startsAt.rfc3339)
        add("Fired", firedAt.rfc3339 + (detectedLateBySeconds < 60 ? "" : "  found \(detectedLateBySeconds / 60) min late"))
        add("Resolved", resolvedAt.map { "\($0.rfc3339)  \(resolvedReason ?? "")" })
        add("Acknowledged", acknowledgedAt.map { "\($0.rfc3339)  \(acknowledgedBy ?? "")" })
        add("Meaning", annotations["meaning"])
        add("What to do", annotations["action"])
        add("Runbook", annotations["runbook"])
        add("Held back by", suppressedBy?.name)
        add("Silenced by", silencedBy?.uuidString.lowercased())
        add("Held since", noDataSince.map { "\($0.rfc3339)  too little traffic to prove recovery" })
        add("Revised", revised ? "late attempts have changed the numbers it fired with" : nil)
        add("Devices", affected?.text)
        add("Backlog", backlog?.text { $0 < 120 ? "\($0) s" : "\($0 / 60) min" })
        for contributor in contributors {
            add("Affected", "\(contributor.dimension)=\(contributor.value): \(contributor.bad) of \(contributor.attempts) failed")
        }
        add("Rule version", ruleVersion)
        return lines.joined(separator: "\n")
    }

    /// `6 % (90 of 1500) from 2026-01-05T12:20:00Z for 15 min`; what waits is no part of anything.
    private func text(_ observed: String, _ window: WindowCounts) -> String {
        let counts = evidence.level == .backlog ? "" : " (\(window.counts.bad) of \(window.counts.attempts))"
        return "\(observed)\(counts) from \(window.first.timestamp.rfc3339) for \(window.minutes) min"
    }
}
