import AlertRules
import PushContract

/// A backtest as JSON.
struct BacktestDocument: Encodable {
    struct Episode: Encodable {
        var group: [String: String]
        var severity: String
        var startsAt: String
        var firedAt: String
        var resolvedAt: String?
        var minutes: Int
        /// The rule whose alert explained this one, and when this one was told all the same; absent when it was told at once.
        var heldBackBy: String?
        var toldAt: String?
        /// The numbers that made it fire.
        var evidence: EvidenceDocument
        var worstText: String

        init(_ episode: BacktestEpisode, span: BacktestSpan) {
            group = episode.group.labels
            severity = episode.severity.rawValue
            startsAt = episode.fired.startsAt.timestamp.rfc3339
            firedAt = episode.firedAt.timestamp.rfc3339
            resolvedAt = episode.resolvedAt?.timestamp.rfc3339
            minutes = episode.minutes(through: span.last)
            heldBackBy = episode.telling.cause
            if case .later(_, let minute) = episode.telling { toldAt = minute.timestamp.rfc3339 }
            evidence = EvidenceDocument(episode.fired.evidence)
            worstText = episode.worstText
        }
    }

    struct Rule: Encodable {
        var rule: String
        var version: String
        var severity: String
        var groups: [[String: String]]
        var minutes: Int
        var episodes: [Episode]
    }

    var since: String
    var until: String
    var rules: [Rule]
}

extension BacktestReport {
    /// `{"since", "until", "rules": [{"rule", "version", "severity", "groups", "minutes", "episodes": […]}]}`
    package func json() throws -> String {
        try AlertJSON.text(
            BacktestDocument(
                since: span.since.timestamp.rfc3339,
                until: (span.last + 1).timestamp.rfc3339,
                rules: results.map { result in
                    BacktestDocument.Rule(
                        rule: result.rule.name,
                        version: result.rule.version,
                        severity: result.rule.severity.rawValue,
                        groups: result.groups.map(\.labels),
                        minutes: result.episodes.reduce(0) { $0 + $1.minutes(through: span.last) },
                        episodes: result.episodes.map { BacktestDocument.Episode($0, span: span) }
                    )
                }
            )
        )
    }
}
