import AlertRules
import Foundation
import PushContract
import ServiceKit

/// An alert in words, the same for every receiver made for people. What callers reported, as labels and codes, can neither reorder nor hide
/// what stands around it.
struct AlertText {
    struct TextField: Hashable {
        var name: String
        var value: String
    }

    struct Link: Hashable {
        var text: String
        var url: String
    }

    let message: AlertNotification

    init(_ message: AlertNotification) { self.message = message }

    /// The same in all messages about an alert, so that receivers and people can match them.
    var title: String {
        let labels = message.ownLabels.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
        return "[\(message.severity.rawValue)] \(message.rule)\(labels) #\(shortId)".visible
    }

    /// Enough of the alert's id to distinguish a repeated message from a second alert.
    var shortId: String { String(message.alertId.uuidString.lowercased().prefix(8)) }

    /// `FIRING`, `RESOLVED`, or both when no message that it fires was delivered.
    var state: String {
        switch message.kind {
        case .firing: Self.firing(message)
        case .resolved: message.supersedesFiring ? "FIRED AND RESOLVED" : "RESOLVED"
        }
    }

    private static func firing(_ message: AlertNotification) -> String {
        switch message.event {
        case .acknowledged: "ACKNOWLEDGED" + (message.acknowledgedBy.map { " by \($0.visible)" } ?? "")
        case .repeated: "STILL FIRING"
        case .reopened: "FIRING AGAIN"
        case .fired, .resolved: "FIRING"
        }
    }

    /// What and how much; of an alert that fires also since when, whom and why.
    var summary: String {
        let text = message.annotations["summary"] ?? message.rule
        guard message.kind == .firing else { return text.visible }
        let affected = message.affected.flatMap {
            $0.withoutSuccess > 0 ? "\($0.isComplete ? "" : "at least ")\($0.withoutSuccess) devices" : nil
        }
        let facts = ["since \(since)", affected, AlertCause(message.contributors).text].compactMap { $0 }
        return (text + " (" + facts.joined(separator: "; ") + ")").visible
    }

    /// With the date where it is not the day of the notification.
    private var since: String {
        let start = Minute(message.startsAt)
        return start.day == Minute(message.createdAt).day ? start.clock : start.description
    }

    /// Not of an alert that is over, unless nothing was delivered before: it describes what happens while it fires.
    var meaning: String? { message.kind == .firing || message.supersedesFiring ? message.annotations["meaning"]?.visible : nil }
    var action: String? { message.kind == .firing ? message.annotations["action"]?.visible : nil }

    var facts: [TextField] {
        let evidence = message.evidence
        var facts = numbers
        facts.append(TextField(name: "Since", value: message.startsAt.rfc3339))
        if let circuits = evidence.openCircuitsText { facts.append(TextField(name: "Open circuits", value: circuits)) }
        if evidence.worst != evidence.observed {
            facts.append(TextField(name: "Worst", value: text(evidence.worstText, evidence.worst)))
        }
        if let endsAt = message.endsAt { facts.append(TextField(name: "Until", value: endsAt.rfc3339)) }
        if let reason = message.resolvedReason { facts.append(TextField(name: "Ended", value: reason.replacing("_", with: " "))) }
        if let accepted = message.annotations["accepted"] { facts.append(TextField(name: "Accepted", value: accepted)) }
        if let late = message.annotations["late"] { facts.append(TextField(name: "Late", value: late)) }
        if let escalation = message.annotations["escalation"] { facts.append(TextField(name: "Escalated", value: escalation)) }
        if message.detectedLateBySeconds >= 60 {
            facts.append(TextField(name: "Detected late by", value: Self.duration(message.detectedLateBySeconds)))
        }
        if let affected = message.affected { facts.append(TextField(name: "Devices", value: affected.text)) }
        if let backlog = message.backlog { facts.append(TextField(name: "Backlog", value: Self.text(backlog))) }
        if message.revised { facts.append(TextField(name: "Revised", value: "late rows changed the numbers it fired with")) }
        return facts.map { TextField(name: $0.name, value: $0.value.visible) }
    }

    /// The numbers of the evidence; alerts about Pushwatch itself have none.
    private var numbers: [TextField] {
        guard BuiltInAlert(rawValue: message.rule) == nil else { return [] }
        let evidence = message.evidence
        let window = evidence.observed
        let numbers = [
            TextField(name: "Observed", value: text(evidence.observedText, window)),
            TextField(name: "Threshold", value: evidence.thresholdPhrase),
            TextField(name: "Window", value: "\(window.first.timestamp.rfc3339) – \((window.last + 1).timestamp.rfc3339)"),
        ]
        return numbers + (evidence.expectedText.map { [TextField(name: "Expected", value: $0)] } ?? [])
    }

    /// `6 % (90 of 1500 attempts)`
    private func text(_ value: String, _ window: WindowCounts) -> String {
        guard message.evidence.level.showsCounts(of: window) else { return value }
        return "\(value) (\(window.counts.bad) of \(window.counts.attempts) attempts)"
    }

    /// Who is affected most, one line each; at most five.
    var contributors: [String] { message.contributors.prefix(5).map(\.text.visible) }

    var links: [Link] {
        [Link(text: "Open alert", url: message.pageURL)] + (message.runbookURL.map { [Link(text: "Runbook", url: $0)] } ?? [])
    }

    /// Everything as plain text; the first line says firing or resolved.
    var plain: String {
        var lines = ["\(state): \(summary)", ""]
        if let meaning { lines += [meaning, ""] }
        if let action { lines += ["What to do: \(action)", ""] }
        lines += facts.map { "\($0.name): \($0.value)" }
        if !contributors.isEmpty { lines += ["", "Most affected:"] + contributors.map { "- " + $0 } }
        lines += [""] + links.map { "\($0.text): \($0.url)" }
        return lines.joined(separator: "\n")
    }

    private static func text(_ backlog: BacklogNumbers) -> String { backlog.text(span: duration) }

    /// `90 s`, `12 min`, `3 h 5 min`
    static func duration(_ seconds: Int64) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7200: "\(seconds / 60) min"
        default: "\(seconds / 3600) h \(seconds % 3600 / 60) min"
        }
    }
}
