import AlertRules
import Alerting
import Delivery
import PushContract

/// The page *Now* as its template sees it: a pure function of the data, the reader and the time.
struct NowPage {
    struct RecentAlertRow {
        let path: String
        let name: String
        let when: String
        let worst: String
    }

    let frame: PageFrame
    let alerts: [AlertCard]
    let isQuiet: Bool
    let headline: String
    let headlineClass: String
    let notices: [String]
    let evaluated: String
    let traffic: TrafficView
    let queue: QueueView
    let systemStatus: SystemStatusView
    let delivered: String
    let notificationError: String?
    let recent: [RecentAlertRow]
    let hasRecent: Bool

    init(_ data: NowData, systemStatus: SystemStatus = SystemStatus(), reader: PageReader, now: Timestamp) {
        let firing = data.firing
        let overdue = data.backlog.overdue
        let title = firing.isEmpty ? (overdue == 0 ? "All quiet" : "\(overdue) waiting") : "\(Self.counted(firing).count) firing"
        frame = PageFrame(
            title: "\(title) · Pushwatch",
            state: firing.isEmpty ? .calm : .alarmed,
            refreshSeconds: 30,
            person: reader.name,
            now: now
        )
        alerts = firing.map { AlertCard($0, silences: data.silences, now: now, mayAcknowledge: reader.mayAcknowledge) }
        notices = NowNotices.texts(notificationHealth: data.notificationHealth, evaluation: data.evaluation, now: now)
        isQuiet = firing.isEmpty
        (headline, headlineClass) = Self.headline(firing, overdue: overdue, hasNotices: !notices.isEmpty)
        evaluated = Self.evaluated(data.evaluation, now: now)
        traffic = TrafficView(data.traffic)
        queue = QueueView(data.backlog, throttles: data.throttles, mayAct: reader.mayAcknowledge, now: now)
        self.systemStatus = SystemStatusView(systemStatus, mayAct: reader.mayAcknowledge, now: now)
        delivered = Self.delivered(data.notificationHealth.last, now: now)
        notificationError = data.notificationHealth.last.flatMap { $0.result == "delivered" ? nil : $0.error }
        recent = data.recent.map { Self.line($0, now: now) }
        hasRecent = !data.recent.isEmpty
    }

    /// "All quiet" is shown only when the rules were evaluated and no notification is overdue.
    private static func headline(_ firing: [Alert], overdue: Int, hasNotices: Bool) -> (String, String) {
        if firing.isEmpty && overdue > 0 {
            return ("No alert is firing; \(NumberText.count(overdue)) \(overdue == 1 ? "push waits" : "pushes wait")", "unsure")
        }
        if firing.isEmpty { return hasNotices ? ("No alert is firing", "unsure") : ("All quiet", "quiet") }
        let counted = Self.counted(firing)
        let open = counted.filter { $0.acknowledgedAt == nil }.count
        let noun = counted.count == 1 ? "alert" : "alerts"
        let rest = open == 0 ? "all acknowledged" : open == counted.count ? "not acknowledged" : "\(open) not acknowledged"
        let suppressed = firing.count - counted.count
        return ("\(counted.count) \(noun) firing, \(rest)" + (suppressed == 0 ? "" : "; \(suppressed) more suppressed"), "burning")
    }

    /// Nobody is notified of a suppressed one while its cause fires. All of them where only such are left.
    private static func counted(_ firing: [Alert]) -> [Alert] {
        let counted = firing.filter { $0.suppressedBy == nil }
        return counted.isEmpty ? firing : counted
    }

    private static func evaluated(_ evaluation: EvaluationHealth, now: Timestamp) -> String {
        let rules = "\(evaluation.rules) \(evaluation.rules == 1 ? "rule" : "rules")"
        let seen = evaluation.evaluated < evaluation.rules ? "\(evaluation.evaluated) of \(rules)" : rules
        let late =
            evaluation.lateAttempts == 0 ? "" : "; \(NumberText.count(evaluation.lateAttempts)) attempts of the last day were reported late"
        return switch evaluation.verdict(now: now) {
        case .upToDate(let through), .late(let through): "\(seen) evaluated through \(ClockText.moment(through, now: now))\(late)"
        case .notYet: "\(rules), not evaluated yet"
        case .noRules: "no rules"
        }
    }

    private static func delivered(_ last: NotificationHealth.Last?, now: Timestamp) -> String {
        guard let last else { return "No alert has been delivered yet." }
        let answer = last.status.map { ", answered \($0)" } ?? ""
        let when = "\(ClockText.moment(last.attemptedAt, now: now)) (\(DurationText.ago(last.attemptedAt, now: now)))"
        return switch last.result {
        case "delivered": "Last alert message delivered to \(last.receiver) at \(when)\(answer)."
        case "retry": "Last try to reach \(last.receiver) failed at \(when)\(answer); it is tried again."
        default: "\(last.receiver) refused the last alert message at \(when)\(answer)."
        }
    }

    private static func line(_ alert: Alert, now: Timestamp) -> RecentAlertRow {
        let end = alert.endsAt ?? alert.resolvedAt ?? now
        return RecentAlertRow(
            path: alert.pagePath,
            name: AlertWords.name(alert),
            when: "\(ClockText.moment(alert.startsAt, now: now)), for \(DurationText.span(end - alert.startsAt))",
            worst: alert.isBuiltIn ? "–" : alert.evidence.worstText
        )
    }
}
