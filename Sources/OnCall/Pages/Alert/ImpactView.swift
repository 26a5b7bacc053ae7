import AlertRules
import Alerting
import PushContract

/// Who is affected by an alert at one time.
struct ImpactView {
    let heading: String
    let summary: String
    let lines: [ContributorRow]
    let hasLines: Bool

    /// The worst window and now; empty before it was read.
    static func list(_ alert: Alert, now: Timestamp) -> [ImpactView] {
        guard let impact = alert.impact else { return [] }
        let last = alert.state == .firing ? "Now" : "At the last look"
        return [impact.worst.map { ImpactView("In the worst window", $0, now: now) }, ImpactView(last, impact.now, now: now)].compactMap {
            $0
        }
    }

    private init(_ when: String, _ look: AlertImpact.Snapshot, now: Timestamp) {
        heading = "\(when), \(ClockText.span(look.window.first.timestamp, to: (look.window.last + 1).timestamp, now: now))"
        summary = [
            look.window.counts.attempts > 0 ? AlertWords.counts(look.window) : nil, look.affected.map { "devices: \($0.text)" },
            look.backlog?.text(count: { NumberText.count($0) }, span: { DurationText.span(.seconds($0)) }),
        ].compactMap { $0 }.joined(separator: "; ")
        lines = look.contributors.map(ContributorRow.init)
        hasLines = !lines.isEmpty
    }
}
