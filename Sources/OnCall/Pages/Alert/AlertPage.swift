import AlertRules
import Alerting
import Attempts
import Delivery
import PushContract
import ServiceKit

/// An alert's page as its template sees it.
struct AlertPage {
    let frame: PageFrame
    let summary: String
    /// Why, in the words of the messages.
    let cause: String?
    let name: String
    let severity: String
    let isFiring: Bool
    let path: String
    let state: String
    let acknowledged: String?
    let acknowledgePath: String?
    /// Where it can be silenced, and where sends are throttled and throttles lifted, for those who may.
    let silencePath: String?
    /// Where the silence that its notes name is ended, for those who may.
    let endSilencePath: String?
    let throttlePath: String?
    /// Those in force of the sends that it is about.
    let throttles: [String]
    let markPath: String?
    /// The path of the form that accepts its level, and who did.
    let acceptPath: String?
    let acceptance: AcceptanceRow?
    let verdict: String?
    let notes: [String]
    let action: String?
    let meaning: String?
    let chart: String?
    let chartCaption: String?
    let numbers: [AlertNumber]
    let contributors: [ContributorRow]
    let impacts: [ImpactView]
    let hasImpacts: Bool
    let people: [PersonRow]
    let hasPeople: Bool
    let checkPath: String?
    let hasContributors: Bool
    let notifications: [NotificationRow]
    let hasNotifications: Bool
    let tries: [NotificationAttemptRow]
    let hasTries: Bool
    let sql: String
    let runbookHTML: String?
    let runbookPath: String?

    init(
        _ data: AlertData,
        verdict: (verdict: String, author: String)? = nil,
        reader: PageReader,
        now: Timestamp
    ) {
        let alert = data.alert
        isFiring = alert.state == .firing
        summary = isFiring ? AlertWords.summary(alert) : AlertWords.over(alert)
        cause = alert.causeText.map { "Cause: \($0)" }
        name = AlertWords.name(alert)
        severity = alert.severity.rawValue
        frame = PageFrame(
            title: "\(isFiring ? "Firing" : "Resolved"): \(name) · Pushwatch",
            state: isFiring ? .alarmed : .calm,
            refreshSeconds: isFiring ? 60 : nil,
            person: reader.name,
            now: now
        )
        state = Self.state(alert, now: now)
        acknowledged = AlertWords.acknowledged(alert, now: now)
        let canAcknowledge = isFiring && reader.mayAcknowledge && alert.acknowledgedAt == nil
        acknowledgePath = canAcknowledge ? alert.pagePath + "/acknowledge" : nil
        silencePath = isFiring && reader.mayAcknowledge ? alert.pagePath + "/silence" : nil
        let silence = isFiring ? AlertWords.silence(of: alert, data.silences, now: now) : nil
        endSilencePath = reader.mayAcknowledge ? silence?.endPath : nil
        throttlePath = reader.mayAcknowledge && !alert.isBuiltIn ? Self.throttlePath(alert) : nil
        throttles = data.throttles.filter { Self.concerns($0, alert) }.map { QueueView.words($0, now: now) }
        acceptPath =
            reader.mayAcknowledge && data.acceptance == nil && alert.isAcceptable(at: now) ? alert.pagePath + "/accept" : nil
        acceptance = data.acceptance.map { AcceptanceRow($0, mayUndo: reader.mayAcknowledge, back: alert.pagePath, now: now) }
        markPath = reader.mayAcknowledge ? alert.pagePath + "/mark" : nil
        self.verdict = verdict.map { "Marked as \($0.verdict) by \($0.author)." }
        notes = AlertWords.notes(alert, data.silences, now: now) + AlertWords.escalation(data, now: now)
        action = alert.annotations["action"]
        meaning = alert.annotations["meaning"].map { StoredMoments.text($0, now: now) }
        chart = data.series.map { Self.chart($0, alert, now: now) }
        chartCaption = Self.caption(data)
        numbers = AlertNumber.list(alert, now: now)
        contributors = alert.contributors.map(ContributorRow.init)
        hasContributors = !alert.contributors.isEmpty
        impacts = ImpactView.list(alert, now: now)
        hasImpacts = !impacts.isEmpty
        people = data.people.map { PersonRow($0, now: now) }
        hasPeople = !people.isEmpty
        checkPath = isFiring && reader.mayAcknowledge && data.concernsCredentials ? "/oncall/credentials/check" : nil
        path = alert.pagePath
        notifications = data.notifications.map { NotificationRow($0, now: now) }
        hasNotifications = !data.notifications.isEmpty
        tries = data.notificationAttempts.reversed().map { NotificationAttemptRow($0, now: now) }
        hasTries = !data.notificationAttempts.isEmpty
        sql = alert.reproduceSQL
        runbookHTML = data.runbook.map { MarkdownHTML.html($0, headingsFrom: 3) }
        runbookPath = AlertWords.runbookPath(alert)
    }

    /// With the provider and the app of the alert's group. `other`, which stands for several apps, cannot be throttled.
    private static func throttlePath(_ alert: Alert) -> String {
        let fields = [Dimension.provider, .app].compactMap { dimension -> String? in
            guard let value = alert.group.values[dimension], !value.isEmpty, value != FoldedLabels.other else { return nil }
            return "\(dimension.rawValue)=\(PathText.encoded(value))&"
        }
        return "/oncall/throttle?\(fields.joined())back=\(alert.pagePath)"
    }

    private static func concerns(_ throttle: SendThrottle, _ alert: Alert) -> Bool {
        guard !alert.isBuiltIn else { return false }
        let (provider, app) = (alert.group.values[.provider] ?? "", alert.group.values[.app] ?? "")
        return (provider.isEmpty || provider == throttle.provider.rawValue)
            && (throttle.app == nil || app.isEmpty || app == FoldedLabels.other || app == throttle.app)
    }

    private static func state(_ alert: Alert, now: Timestamp) -> String {
        let began = ClockText.moment(alert.startsAt, now: now)
        guard alert.state == .resolved else { return "Firing since \(began), \(DurationText.ago(alert.startsAt, now: now))" }
        let end = alert.endsAt ?? alert.resolvedAt ?? now
        return "Resolved: lasted \(DurationText.span(end - alert.startsAt)), from \(began) to \(ClockText.moment(end, now: now))"
    }

    private static func caption(_ data: AlertData) -> String? {
        guard let series = data.series else {
            if data.alert.isBuiltIn {
                return "This alert is about Pushwatch itself and counts no attempts. The SQL below has its numbers."
            }
            guard data.alert.evidence.level.comparesShares else { return nil }
            return "The rule is in no rule file any more, so its chart cannot be drawn. The SQL below has the numbers."
        }
        let step = series.minutesPerSlot == 1 ? "minute" : "\(series.minutesPerSlot) minutes"
        let own = ReaderZone.current?.wallClock(series.from) == nil ? "" : " (\(ReaderZone.current?.city ?? ""))"
        return "Share of bad attempts per \(step), UTC\(own). Shaded: the time of the alert."
    }

    private static func chart(_ series: AlertSeries, _ alert: Alert, now: Timestamp) -> String {
        var markers = [RatioChart.Marker(moment: alert.firedAt, label: "fired \(ClockText.time(alert.firedAt))", isLeft: true)]
        if let resolved = alert.resolvedAt {
            markers.append(.init(moment: resolved, label: "resolved \(ClockText.time(resolved))", isLeft: false))
        }
        return RatioChart.svg(
            series.shares,
            time: series.time,
            threshold: AlertWords.thresholdShare(alert.evidence),
            thresholdLabel: AlertWords.threshold(alert.evidence),
            bad: (alert.startsAt, alert.endsAt ?? now),
            markers: markers
        )
    }
}
