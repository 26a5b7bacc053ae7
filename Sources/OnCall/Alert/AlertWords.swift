import AlertRules
import Alerting
import Foundation
import PushContract

/// The sentences in which pages speak of an episode.
enum AlertWords {
    /// `ProviderUnavailable · provider=fcm`
    static func name(_ episode: AlertEpisode) -> String {
        episode.group.values.isEmpty ? episode.rule : "\(episode.rule) · \(episode.group)"
    }

    static func summary(_ episode: AlertEpisode) -> String { episode.annotations["summary"] ?? name(episode) }

    /// Of an alert that is over: its last words told of the numbers it ended with, which were good.
    static func over(_ episode: AlertEpisode) -> String {
        "It is over: at worst \(episode.evidence.worstText), \(threshold(episode.evidence))"
    }

    /// `312 of 4,950 attempts in 15 min`
    static func counts(_ window: WindowCounts) -> String {
        "\(NumberText.count(window.counts.bad)) of \(NumberText.count(window.counts.attempts)) attempts in "
            + RuleDuration(minutes: window.minutes).words
    }

    /// `threshold 5 %`, `threshold 3× of the 12.3 expected`
    static func threshold(_ evidence: Evidence) -> String {
        guard let expected = evidence.expected else { return "threshold \(evidence.thresholdText)" }
        return "threshold \(evidence.thresholdText) of the \(Fraction.rounded(expected)) expected"
    }

    /// The threshold as a share of attempts, which for a baseline follows from what was expected.
    static func thresholdShare(_ evidence: Evidence) -> Double? {
        guard evidence.level == .reference else { return evidence.threshold.double }
        guard let expected = evidence.expected, evidence.observed.counts.attempts > 0 else { return nil }
        return evidence.threshold.double * expected / Double(evidence.observed.counts.attempts)
    }

    static func acknowledged(_ episode: AlertEpisode, now: Timestamp) -> String? {
        episode.acknowledgedAt.map { "Acknowledged by \(episode.acknowledgedBy ?? "somebody") \(SpanText.ago($0, now: now))" }
    }

    /// What makes this alert different from the usual one.
    static func remarks(_ episode: AlertEpisode, now: Timestamp) -> [String] {
        var remarks: [String] = []
        if episode.silencedBy != nil { remarks.append("Silenced: recorded, not delivered.") }
        if let cause = episode.heldBack, episode.state == .firing {
            remarks.append(
                "Held back because of \(cause.name), which explains it. Whoever was told of that is told of this only if it outlasts it."
            )
        } else if let cause = episode.heldBack {
            remarks.append("Was held back because of \(cause.name), which explained it. Whoever was told of that was not told of this.")
        }
        if let held = episode.heldSince, episode.state == .firing {
            remarks.append(
                "Held since \(ClockText.moment(held, now: now)): too little traffic to prove recovery. It stays open until there is."
            )
        }
        if episode.revised { remarks.append("Late attempts have changed the numbers it fired with.") }
        if episode.detectedLateBySeconds >= 120 {
            remarks.append("Found \(SpanText.span(.seconds(episode.detectedLateBySeconds))) late: rules were not evaluated in time.")
        }
        return remarks
    }

    static func runbookPath(_ episode: AlertEpisode) -> String? {
        guard let runbook = episode.annotations["runbook"] else { return nil }
        if let name = RunbookShelf.name(of: runbook) { return "/runbooks/\(name)" }
        return runbook.hasPrefix("https://") || runbook.hasPrefix("http://") ? runbook : nil
    }
}

extension AlertEpisode {
    /// Where people look at it; `GET /alerts/{id}` is for machines.
    var pagePath: String { "/oncall/alerts/\(id.uuidString.lowercased())" }
}

extension RuleDuration {
    /// `15 min`, `2 h`
    var words: String { SpanText.span(.seconds(minutes * 60)) }
}
