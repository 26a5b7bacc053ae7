import AlertRules
import Alerting
import Foundation
import PushContract

/// The sentences about an alert on pages.
enum AlertWords {
    /// `ProviderUnavailable · provider=fcm`
    static func name(_ alert: Alert) -> String {
        let labels = alert.ownLabels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return labels.isEmpty ? alert.rule : "\(alert.rule) · \(labels.joined(separator: ","))"
    }

    static func summary(_ alert: Alert) -> String { alert.annotations["summary"] ?? name(alert) }

    /// Of a resolved alert: its last summary has the numbers it ended with, which were good. A built-in alert has none.
    static func over(_ alert: Alert) -> String {
        guard !alert.isBuiltIn else { return "It is over: \(summary(alert))" }
        return "It is over: at worst \(alert.evidence.worstText), \(threshold(alert.evidence))"
    }

    /// `312 of 4,950 attempts in 15 min`; `over 15 min` of what is not a share of attempts, and without attempts.
    static func counts(_ window: WindowCounts, _ level: Evidence.Level = .threshold) -> String {
        guard level.showsCounts(of: window) else { return "over \(RuleDuration(minutes: window.minutes).words)" }
        return "\(NumberText.count(window.counts.bad)) of \(NumberText.count(window.counts.attempts)) attempts in "
            + RuleDuration(minutes: window.minutes).words
    }

    /// `threshold 5 %`, `threshold 3× of the 12.3 expected`
    static func threshold(_ evidence: Evidence) -> String {
        guard let expected = evidence.expected else { return "threshold \(evidence.thresholdText)" }
        let of = evidence.level.isMultiple ? " of the \(Fraction.rounded(expected)) expected" : " (\(Fraction.rounded(expected)))"
        return "threshold \(evidence.thresholdText)\(of)"
    }

    /// The threshold as a share of attempts, which for a baseline follows from what was expected.
    static func thresholdShare(_ evidence: Evidence) -> Double? {
        guard evidence.level.isMultiple else { return evidence.threshold.double }
        guard let expected = evidence.expected, evidence.observed.counts.attempts > 0 else { return nil }
        return evidence.threshold.double * expected / Double(evidence.observed.counts.attempts)
    }

    static func acknowledged(_ alert: Alert, now: Timestamp) -> String? {
        alert.acknowledgedAt.map { "Acknowledged by \(alert.acknowledgedBy ?? "somebody") \(DurationText.ago($0, now: now))" }
    }

    /// What makes this alert different from the usual one.
    static func notes(_ alert: Alert, _ silences: [AlertSilence], now: Timestamp) -> [String] {
        var notes = silenced(alert, silences, now: now).map { [$0] } ?? []
        if let cause = alert.suppressedBy, alert.state == .firing {
            notes.append(
                "Suppressed by \(cause.name), which explains it. Its receivers are notified of this alert only if it is still firing "
                    + "after that one resolves."
            )
        } else if let cause = alert.suppressedBy {
            notes.append("Was suppressed because of \(cause.name), which explained it. Its receivers were not notified of this alert.")
        }
        if let noDataSince = alert.noDataSince, alert.state == .firing {
            notes.append(
                "No data since \(ClockText.moment(noDataSince, now: now)): too little traffic to prove recovery. "
                    + "It stays open until there is."
            )
        }
        if let late = alert.annotations["late"] { notes.append(late) }
        if alert.revised { notes.append("Late attempts have changed the numbers it fired with.") }
        if alert.detectedLateBySeconds >= 120 {
            notes.append("Found \(DurationText.span(.seconds(alert.detectedLateBySeconds))) late: rules were not evaluated in time.")
        }
        return notes
    }

    /// A silence takes effect, and ends, with the next evaluation; until then the page states here that it is stored.
    private static func silenced(_ alert: Alert, _ silences: [AlertSilence], now: Timestamp) -> String? {
        guard alert.state == .firing else { return alert.silencedBy == nil ? nil : "Silenced: recorded, not delivered." }
        guard let silence = Self.silence(of: alert, silences, now: now) else {
            return alert.silencedBy == nil ? nil : "Its silence has ended; this takes effect within a minute."
        }
        let until = "Silenced until \(ClockText.moment(silence.endsAt, now: now)) by \(silence.author): \(silence.reason)."
        return until + (alert.silencedBy == nil ? " This takes effect within a minute." : " It is recorded, not delivered.")
    }

    /// The one that ends last of those that mute it, or will with the next evaluation.
    static func silence(of alert: Alert, _ silences: [AlertSilence], now: Timestamp) -> AlertSilence? {
        silences.filter { $0.isActive(at: now) && $0.matches(alert.labels) }.max { $0.endsAt < $1.endsAt }
    }

    /// Whom it went to after its first receivers, and whom it goes to next.
    static func escalation(_ data: AlertData, now: Timestamp) -> [String] {
        let taken = data.escalations.map {
            "Escalated \(DurationText.ago($0.at, now: now)) to \($0.receivers.joined(separator: ", ")), \($0.text)."
        }
        guard let next = data.nextEscalation else { return taken }
        let names = next.escalation.receivers.joined(separator: ", ")
        let moment = next.at <= now ? "now" : "at \(ClockText.moment(next.at, now: now))"
        return taken + ["Escalates \(moment) to \(names) unless somebody acknowledges it."]
    }

    static func runbookPath(_ alert: Alert) -> String? {
        guard let runbook = alert.annotations["runbook"] else { return nil }
        if let name = RunbookDirectory.name(of: runbook) { return "/runbooks/\(name)" }
        return runbook.hasPrefix("https://") || runbook.hasPrefix("http://") ? runbook : nil
    }
}

extension Alert {
    /// Where people look at it; `GET /alerts/{id}` is for machines.
    var pagePath: String { "/oncall/alerts/\(id.uuidString.lowercased())" }
}

extension AlertSilence {
    /// The form that ends it.
    var endPath: String { "/oncall/silences/\(id.uuidString.lowercased())/end" }
}

extension RuleDuration {
    /// `15 min`, `2 h`
    var words: String { DurationText.span(.seconds(minutes * 60)) }
}
