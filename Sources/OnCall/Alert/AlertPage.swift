import AlertRules
import Alerting
import PushContract

/// An alert's page as its template sees it.
struct AlertPage {
    let frame: PageFrame
    let summary: String
    let name: String
    let severity: String
    let isFiring: Bool
    let path: String
    let state: String
    let acknowledged: String?
    let acknowledgePath: String?
    /// Where it can be silenced and sends throttled, for those who may.
    let silencePath: String?
    let throttlePath: String?
    let markPath: String?
    /// Where its level can be called normal, and who did.
    let acceptPath: String?
    let acceptance: AcceptanceLine?
    let verdict: String?
    let remarks: [String]
    let action: String?
    let meaning: String?
    let chart: String?
    let chartCaption: String
    let numbers: [AlertNumber]
    let contributors: [ContributorLine]
    let impacts: [ImpactView]
    let hasImpacts: Bool
    let people: [PersonLine]
    let hasPeople: Bool
    let checkPath: String?
    let hasContributors: Bool
    let lanes: [LaneLine]
    let hasLanes: Bool
    let tries: [TryLine]
    let hasTries: Bool
    let sql: String
    let runbookHTML: String?
    let runbookPath: String?

    init(
        _ data: AlertData,
        verdict: (verdict: String, author: String)? = nil,
        reader: NowPage.Reader,
        now: Timestamp
    ) {
        let episode = data.episode
        isFiring = episode.state == .firing
        summary = isFiring ? AlertWords.summary(episode) : AlertWords.over(episode)
        name = AlertWords.name(episode)
        severity = episode.severity.rawValue
        frame = PageFrame(
            title: "\(isFiring ? "Firing" : "Resolved"): \(name) · Pushwatch",
            mood: isFiring ? .alarmed : .calm,
            refreshSeconds: isFiring ? 60 : nil,
            person: reader.name,
            now: now
        )
        state = Self.state(episode, now: now)
        acknowledged = AlertWords.acknowledged(episode, now: now)
        let canAcknowledge = isFiring && reader.mayAcknowledge && episode.acknowledgedAt == nil
        acknowledgePath = canAcknowledge ? episode.pagePath + "/acknowledge" : nil
        silencePath = isFiring && reader.mayAcknowledge ? episode.pagePath + "/silence" : nil
        throttlePath = isFiring && reader.mayAcknowledge ? Self.throttlePath(episode) : nil
        acceptPath =
            reader.mayAcknowledge && data.acceptance == nil && episode.isAcceptable(at: now) ? episode.pagePath + "/accept" : nil
        acceptance = data.acceptance.map { AcceptanceLine($0, mayUndo: reader.mayAcknowledge, back: episode.pagePath, now: now) }
        markPath = reader.mayAcknowledge ? episode.pagePath + "/mark" : nil
        self.verdict = verdict.map { "Marked as \($0.verdict) by \($0.author)." }
        remarks = AlertWords.remarks(episode, now: now)
        action = episode.annotations["action"]
        meaning = episode.annotations["meaning"].map { StoredMoments.text($0, now: now) }
        chart = data.series.map { Self.chart($0, episode, now: now) }
        chartCaption = Self.caption(data.series)
        numbers = AlertNumber.list(episode, now: now)
        contributors = episode.contributors.map(ContributorLine.init)
        hasContributors = !episode.contributors.isEmpty
        impacts = ImpactView.list(episode, now: now)
        hasImpacts = !impacts.isEmpty
        people = data.people.map { PersonLine($0, now: now) }
        hasPeople = !people.isEmpty
        checkPath = isFiring && reader.mayAcknowledge && data.concernsCredentials ? "/oncall/credentials/check" : nil
        path = episode.pagePath
        lanes = data.lanes.map { LaneLine($0, now: now) }
        hasLanes = !data.lanes.isEmpty
        tries = data.deliveries.reversed().map { TryLine($0, now: now) }
        hasTries = !data.deliveries.isEmpty
        sql = episode.reproduceSQL
        runbookHTML = data.runbook.map { MarkdownHTML.html($0, headingsFrom: 3) }
        runbookPath = AlertWords.runbookPath(episode)
    }

    private static func throttlePath(_ episode: AlertEpisode) -> String {
        let provider = episode.group.values.first { $0.key == .provider }.map { "provider=\($0.value)&" } ?? ""
        return "/oncall/throttle?\(provider)back=\(episode.pagePath)"
    }

    private static func state(_ episode: AlertEpisode, now: Timestamp) -> String {
        let began = ClockText.moment(episode.startsAt, now: now)
        guard episode.state == .resolved else { return "Firing since \(began), \(SpanText.ago(episode.startsAt, now: now))" }
        let end = episode.endsAt ?? episode.resolvedAt ?? now
        return "Resolved: lasted \(SpanText.span(end - episode.startsAt)), from \(began) to \(ClockText.moment(end, now: now))"
    }

    private static func caption(_ series: AlertSeries?) -> String {
        guard let series else {
            return "The rule is in no rule file any more, so its chart cannot be drawn. The SQL below has the numbers."
        }
        let step = series.minutesPerSlot == 1 ? "minute" : "\(series.minutesPerSlot) minutes"
        let own = ReaderZone.current?.wallClock(series.from) == nil ? "" : " (\(ReaderZone.current?.place ?? ""))"
        return "Share of bad attempts per \(step), UTC\(own). Shaded: the time of the alert."
    }

    private static func chart(_ series: AlertSeries, _ episode: AlertEpisode, now: Timestamp) -> String {
        var markers = [RatioChart.Marker(moment: episode.firedAt, label: "fired \(ClockText.time(episode.firedAt))", isLeft: true)]
        if let resolved = episode.resolvedAt {
            markers.append(.init(moment: resolved, label: "resolved \(ClockText.time(resolved))", isLeft: false))
        }
        return RatioChart.svg(
            series.shares,
            time: series.time,
            threshold: AlertWords.thresholdShare(episode.evidence),
            thresholdLabel: AlertWords.threshold(episode.evidence),
            bad: (episode.startsAt, episode.endsAt ?? now),
            markers: markers
        )
    }
}
