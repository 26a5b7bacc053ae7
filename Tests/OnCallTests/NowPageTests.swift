import AlertRules
import Attempts
import PushContract
import Testing

@testable import Alerting
@testable import Delivery
@testable import OnCall

@Suite("What the page Now says")
struct NowPageTests {
    private func page(_ data: NowData, mayAcknowledge: Bool = true) -> NowPage {
        NowPage(data, reader: .init(name: "on-call", mayAcknowledge: mayAcknowledge), now: PageSample.now)
    }

    @Test("all quiet is said only when the rules were evaluated")
    func quiet() {
        #expect(page(PageSample.now(firing: [])).headline == "All quiet")
        let late = page(PageSample.now(firing: [], through: PageSample.now - .seconds(600)))
        #expect(late.headline == "No alert is firing")
        #expect(late.notices.first?.hasPrefix("Rules are evaluated only through 12:31 UTC (10 min ago).") == true)
        #expect(page(PageSample.now(firing: [], through: nil)).headline == "No alert is firing")
    }

    @Test("a rule that was never evaluated is not counted among those that were; once it should have been, nothing says quiet")
    func neverEvaluated() {
        var data = PageSample.now(firing: [])
        data.evaluation.rules = 4
        #expect(page(data).headline == "All quiet", "it may have been added a minute ago")
        #expect(page(data).evaluated == "3 of 4 rules evaluated through 12:41 UTC")
        data.evaluation.neverEvaluated = 1
        #expect(page(data).headline == "No alert is firing")
        #expect(page(data).notices == ["1 rule was never evaluated and cannot fire; the page Rules shows which."])
    }

    @Test("nothing says quiet while pushes wait behind a circuit or a pause, and both can be ended from here")
    func blocked() throws {
        var data = PageSample.now(firing: [])
        let scope = CircuitScope(.failing, provider: .fcm, app: "com.example.news", environment: .production, credential: "k")
        data.backlog.queues[0].blocked = 147
        data.backlog.circuits = [
            Circuit(
                id: 7,
                scope: scope,
                cause: "UNAVAILABLE",
                since: PageSample.now - .seconds(600),
                lastRefusedAt: PageSample.now,
                refusals: 3,
                probes: 1,
                nextProbeAt: PageSample.now + .seconds(2)
            )
        ]
        data.backlog.pauses = [
            RateLimitPause(
                provider: .apns,
                app: "com.example.news",
                cause: "TooManyRequests",
                since: PageSample.now,
                until: PageSample.now + .seconds(60),
                number: 1
            )
        ]
        let waiting = page(data)
        #expect(waiting.headline == "No alert is firing; 147 pushes wait")
        #expect(waiting.frame.title == "147 waiting · Pushwatch")
        #expect(waiting.queue.depth == "147" && waiting.queue.verdict == "147 blocked by an open circuit.")
        #expect(waiting.queue.obstacles.map(\.path) == ["/oncall/circuits/7/close", "/oncall/pauses/end"])
        let text = waiting.queue.obstacles[0].text
        #expect(text.hasPrefix("fcm answers every push to com.example.news (production) with UNAVAILABLE, since"))
        #expect(page(data, mayAcknowledge: false).queue.obstacles.map(\.path) == [nil, nil])
    }

    @Test("alerts come first, with their numbers and what to do")
    func firing() throws {
        let page = page(PageSample.now(firing: [PageSample.alert(), PageSample.alert(acknowledged: true)]))
        #expect(page.headline == "2 alerts firing, 1 not acknowledged")
        #expect(page.frame.title == "2 firing · Pushwatch")
        let card = try #require(page.alerts.first)
        #expect(card.since == "since 12:12 UTC, 29 min ago")
        #expect((card.observed, card.threshold, card.counts) == ("8.79 %", "threshold 5 %", "203 of 2,310 attempts in 15 min"))
        #expect(card.acknowledgePath == card.path + "/acknowledge")
        #expect(card.runbook == "/runbooks/provider-5xx.md")
        #expect(page.alerts[1].acknowledged == "Acknowledged by maria 4 min ago")
        #expect(page.alerts[1].acknowledgePath == nil)
    }

    @Test("an alert that another one explains is counted apart, unless none but such are left")
    func suppressed() {
        var suppressed = PageSample.alert(rule: "ProviderUnavailableSlow")
        suppressed.suppressedBy = SuppressingAlert(alertId: suppressed.id, rule: "ProviderUnavailable", group: "provider=fcm")
        let page = self.page(PageSample.now(firing: [PageSample.alert(acknowledged: true), suppressed]))
        #expect(page.headline == "1 alert firing, all acknowledged; 1 more suppressed")
        #expect(page.frame.title == "1 firing · Pushwatch" && page.alerts.count == 2)
        #expect(self.page(PageSample.now(firing: [suppressed])).headline == "1 alert firing, not acknowledged")
    }

    @Test("who may not acknowledge gets no button")
    func readOnly() {
        #expect(page(PageSample.now(firing: [PageSample.alert()]), mayAcknowledge: false).alerts[0].acknowledgePath == nil)
    }

    @Test("the queue says whether it drains")
    func queue() {
        let growing = page(PageSample.now(firing: [PageSample.alert()])).queue
        #expect(growing.depth == "1,724")
        #expect(growing.isGrowing && growing.verdict == "Growing: more waits than a minute ago.")
        #expect((growing.arrived, growing.ended, growing.oldest) == ("433/min", "406/min", "1 min"))
        #expect(growing.queues.map(\.name) == ["fcm com.example.news", "fcm com.example.news (critical)"])
        var backlog = PageSample.backlog(growing: true)
        backlog.queues[0].samples[0].queued += 1_000
        #expect(QueueView(backlog, throttles: [], now: PageSample.now).verdict == "Drained in about 1 min at this pace.")
        #expect(QueueView(PageSample.backlog(growing: false), throttles: [], now: PageSample.now).verdict == "Nothing waits.")
    }

    @Test("the rule nearest to firing comes first; refused credentials and old keys stand out")
    func systemStatus() {
        var data = SystemStatus()
        data.rules = [
            .init(
                name: "Far",
                isFiring: false,
                ruleStatus: .init(counts: .init(attempts: 1_000, bad: 1), threshold: Fraction(5, 100), group: "all")
            ),
            .init(name: "Own", isFiring: true, ruleStatus: nil),
            .init(
                name: "Near",
                isFiring: false,
                ruleStatus: .init(counts: .init(attempts: 100, bad: 4), threshold: Fraction(5, 100), group: "provider=fcm")
            ),
        ]
        data.credentials = [
            CredentialState(name: "APNs A/B", provider: .apns, keyAgeDays: 365),
            CredentialState(name: "FCM", provider: .fcm, keyAgeDays: 1),
            CredentialState(name: "FCM new", provider: .fcm, fault: "not accepted"),
        ]
        let scope = CircuitScope(provider: .apns, app: "com.example.app", environment: .production, credential: "k")
        data.circuits = [
            Circuit(
                id: 1,
                scope: scope,
                cause: "InvalidProviderToken",
                since: PageSample.now - .seconds(600),
                lastRefusedAt: PageSample.now,
                refusals: 3,
                probes: 1,
                nextProbeAt: PageSample.now + .seconds(90)
            )
        ]
        data.lastHeartbeat = PageSample.now - .seconds(240)
        let view = SystemStatusView(data, mayAct: true, now: PageSample.now)
        #expect(view.rules.map(\.name) == ["Near", "Far", "Own"])
        #expect(view.rules.map(\.meter) == ["80", "2", nil])
        #expect(view.rules.map(\.text) == ["4 % of 5 %", "0.1 % of 5 %", "firing"])
        #expect(view.credentials.map(\.isBad) == [true, true, false, true])
        #expect(view.credentials[0].state == "refused: InvalidProviderToken")
        #expect(view.credentials[0].detail == "sends blocked since 12:31 UTC, 3 refusals, next probe in 1 min")
        #expect(view.credentials[1].state == "in use; replace its key")
        #expect(view.mayCheck && view.isWriterMissing)
        #expect(view.writers == "No instance can write attempts; the last one could 4 min ago.")
        #expect(!SystemStatusView(data, mayAct: false, now: PageSample.now).mayCheck)
        #expect(!SystemStatusView(SystemStatus(), mayAct: true, now: PageSample.now).mayCheck)
    }

    private typealias Run = (minutes: Int, attempts: Int64, bad: Int64)

    /// Of a group with runs of minutes, of a rule that is above 5 % for two hours.
    private func status(_ runs: [Run], _ change: (inout RatioCondition) -> Void = { _ in }) -> WorstGroupStatus {
        let minutes = runs.flatMap { Array(repeating: AttemptCounts(attempts: $0.attempts, bad: $0.bad), count: $0.minutes) }
        let series = MinuteSeries(first: Minute(0), minutes: minutes)
        var ratio = RatioCondition(reasons: ["provider_5xx"], above: Fraction(5, 100), for: RuleDuration(minutes: 120))
        change(&ratio)
        return WorstGroupStatus(series, through: series.end - 1, group: "provider=fcm", of: ratio)
    }

    @Test("above its threshold a quiet rule says why it is quiet, and how far above it is")
    func quietAbove() throws {
        let short = status([(15, 100, 100), (105, 30, 0)])
        #expect((short.meter, short.meterText) == ("100", "645 % of the threshold"))
        #expect(short.quietReason == "not for long enough: above the threshold in 54 minutes, and it takes 96")
        #expect(status([(3, 10, 3), (117, 1, 0)]).quietReason == "too few failures: 9, and it takes 10")
        #expect(status([(120, 100, 10)]).quietReason?.hasPrefix("not proven") == true)
        #expect(status([(120, 100, 5)]).quietReason == nil)
        var data = SystemStatus()
        data.rules = [true, false].map { SystemStatus.Rule(name: "Slow", isFiring: $0, ruleStatus: short) }
        let details = SystemStatusView(data, mayAct: true, now: PageSample.now).rules.map(\.detail)
        let reason = try #require(short.quietReason)
        #expect(details == ["provider=fcm", "provider=fcm; quiet, \(reason)"])
        let rule = OnCallRoutesTests.rules.rules[0]
        let entry = RulesData.Entry(rule: rule, firing: 0, fired: 0, real: 0, noise: 0, past: [], ruleStatus: short)
        let rules = RulesData(entries: [entry], past: [], faults: [])
        let html = try PageTemplates().html(.rules, RulesPage(rules, reader: PageSample.reader, now: PageSample.now))
        #expect(html.contains("645 % of the threshold") && html.contains("quiet</span><span class=\"detail\">not for long enough"))
    }

    @Test("a rule's minutes above the threshold are counted as the evaluator counts them: smoothed, and with enough failures")
    func smoothedMinutes() throws {
        // Every other minute is good; each minute's smooth window is above.
        let alternating = (0..<80).flatMap { _ in [(1, 10, 2), (1, 10, 0)] as [Run] }
        let smoothed = try #require(status(alternating).quorum)
        #expect((smoothed.breaches, smoothed.breachesNeeded) == (120, 96))
        // Every tenth minute is above by one failure, which is too few in a smooth window.
        let single = (0..<16).flatMap { _ in [(1, 1, 1), (9, 1, 0)] as [Run] }
        let few = try #require(status(single) { $0.smooth = RuleDuration(minutes: 5) }.quorum)
        #expect((few.breaches, few.breachesNeeded) == (0, 96))
    }

    @Test("alerts that do not reach anybody are said so")
    func undelivered() {
        var data = PageSample.now(firing: [])
        data.notificationHealth.pending = 2
        data.notificationHealth.oldestPendingAt = PageSample.now - .seconds(61)
        data.notificationHealth.lost = 1
        let page = page(data)
        #expect(page.notices.count == 2)
        #expect(page.headline == "No alert is firing")
    }

    @Test("traffic is summed by minute, bucket and provider; what is outside the time is left out")
    func traffic() {
        let from = PageSample.now.flooredToMinute()
        func cell(_ offset: Int64, _ provider: Provider, _ reason: ReasonCode?, _ count: Int64) -> TrafficCell {
            TrafficCell(
                minute: from.minute + offset,
                provider: provider,
                reason: reason,
                attempts: count,
                latencyMsSum: 10 * count,
                latencyCount: count
            )
        }
        let traffic = Traffic(
            from: from,
            minutes: 7,
            cells: [
                cell(0, .fcm, nil, 5), cell(0, .fcm, .auth, 2), cell(6, .apns, .network, 1), cell(7, .fcm, nil, 9), cell(-1, .fcm, nil, 9),
            ]
        )
        #expect(traffic.perMinute.map(\.attempts) == [7, 0, 0, 0, 0, 0, 1])
        #expect(traffic.perMinute.map(\.bad) == [2, 0, 0, 0, 0, 0, 1])
        #expect(traffic.buckets(of: 5).map(\.attempts) == [7, 1])
        #expect(traffic.newest(7, provider: .fcm).bucket == ReasonBucket(attempts: 7, bad: [.auth: 2]))
        #expect(traffic.newest(7).meanLatencyMs == 10)
        #expect(traffic.newest(3, provider: .fcm).meanLatencyMs == nil)
    }

    @Test("of an alert about latencies the slow attempts are drawn")
    func latencies() {
        let condition = LatencyCondition(percentile: Fraction(95, 1), aboveMs: 2000, for: RuleDuration(minutes: 10))
        let rule = EvaluationHealthTests.rule("Slow", .latency(condition))
        var selection = RollupSelection(allowed: [.provider: ["fcm"]], reasons: [])
        selection.slowerThanMs = 2000
        #expect(rule.selection(in: GroupKey([.provider: "fcm"])) == selection)
    }

    @Test(
        "what was expected has the unit of its rule",
        arguments: [
            (.reregistration, "48 devices that return"), (.trafficDrop, "48 attempts in that window"),
            (.reference, "48 bad attempts in that window"),
        ] as [(Evidence.Level, String)]
    )
    func expected(_ level: Evidence.Level, _ text: String) {
        var alert = PageSample.alert()
        alert.evidence.level = level
        alert.evidence.expected = 48
        #expect(AlertNumber.list(alert, now: PageSample.now).first { $0.name == "Expected" }?.value == text)
    }

    @Test("a long alert is drawn in slots, a very long one from its last week")
    func span() {
        var alert = PageSample.alert()
        #expect(AlertSeries.span(of: alert, now: PageSample.now).minutes == 89)
        alert.startsAt = PageSample.now - .seconds(30 * 86_400)
        let (from, minutes) = AlertSeries.span(of: alert, now: PageSample.now)
        #expect(minutes == 7 * 1_440)
        let series = AlertSeries(from: from, minutes: minutes, counts: [])
        #expect((series.minutesPerSlot, series.slots.count) == (28, 360))
    }
}
