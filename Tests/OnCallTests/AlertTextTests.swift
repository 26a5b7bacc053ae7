import AlertRules
import PushContract
import Testing

@testable import Alerting
@testable import OnCall

@Suite("What messages and pages say of an alert")
struct AlertTextTests {
    /// Evidence at one level, and its texts.
    struct Sample: Sendable, CustomStringConvertible {
        let level: Evidence.Level
        let threshold: Fraction
        let counts: AttemptCounts
        var expected: Double?
        let observed: String
        var showsCounts = false
        let thresholdPhrase: String
        var expectedText: String?

        var description: String { level.rawValue }
    }

    static let samples: [Sample] = [
        Sample(
            level: .threshold,
            threshold: Fraction(5, 100),
            counts: AttemptCounts(attempts: 900, bad: 54),
            observed: "6 %",
            showsCounts: true,
            thresholdPhrase: "above 5 %"
        ),
        Sample(
            level: .blocked,
            threshold: Fraction(1, 100),
            counts: AttemptCounts(),
            observed: "no attempts",
            thresholdPhrase: "above 1 %, or a credential refused throughout"
        ),
        Sample(
            level: .learning,
            threshold: Fraction(10, 100),
            counts: AttemptCounts(attempts: 500, bad: 60),
            observed: "12 %",
            showsCounts: true,
            thresholdPhrase: "above 10 %, fixed: the baseline is still learning"
        ),
        Sample(
            level: .reference,
            threshold: Fraction(3, 1),
            counts: AttemptCounts(attempts: 500, bad: 48),
            expected: 12,
            observed: "4×",
            showsCounts: true,
            thresholdPhrase: "above 3× what the last days let expect",
            expectedText: "12 bad attempts in that window"
        ),
        Sample(
            level: .unusualVolume,
            threshold: Fraction(3, 1),
            counts: AttemptCounts(attempts: 500, bad: 48),
            expected: 12,
            observed: "4×",
            showsCounts: true,
            thresholdPhrase: "above 3× what the last days let expect, under unusual volume",
            expectedText: "12 bad attempts in that window"
        ),
        Sample(
            level: .newNormal,
            threshold: Fraction(2, 1),
            counts: AttemptCounts(attempts: 500, bad: 48),
            expected: 12,
            observed: "4×",
            showsCounts: true,
            thresholdPhrase: "above 2× the lowest level of two weeks: a new normal",
            expectedText: "12 bad attempts in that window"
        ),
        Sample(
            level: .absence,
            threshold: Fraction(0, 1),
            counts: AttemptCounts(attempts: 60, bad: 60),
            observed: "0 successes",
            showsCounts: true,
            thresholdPhrase: "no success"
        ),
        Sample(
            level: .trafficDrop,
            threshold: Fraction(50, 100),
            counts: AttemptCounts(attempts: 12, bad: 0),
            expected: 150,
            observed: "12 attempts, 8 % of the usual",
            thresholdPhrase: "below 50 % of the usual",
            expectedText: "150 attempts in that window"
        ),
        Sample(
            level: .backlog,
            threshold: Fraction(1000, 1),
            counts: AttemptCounts(attempts: 1900, bad: 2400),
            observed: "2400 waiting",
            thresholdPhrase: "above 1000 waiting, and growing"
        ),
        Sample(
            level: .queueAge,
            threshold: Fraction(300, 1),
            counts: AttemptCounts(attempts: 1, bad: 420),
            observed: "7m",
            thresholdPhrase: "above 5m"
        ),
        Sample(
            level: .firstSight,
            threshold: Fraction(0, 1),
            counts: AttemptCounts(attempts: 10, bad: 3),
            observed: "3 attempts",
            showsCounts: true,
            thresholdPhrase: "any"
        ),
        Sample(
            level: .reregistration,
            threshold: Fraction(50, 100),
            counts: AttemptCounts(attempts: 50, bad: 44),
            expected: 30,
            observed: "12 % returned",
            thresholdPhrase: "below 50 % of the usual",
            expectedText: "30 devices that return"
        ),
        Sample(
            level: .feedSilent,
            threshold: Fraction(1000, 1),
            counts: AttemptCounts(attempts: 1, bad: 1500),
            observed: "1500 followers",
            thresholdPhrase: "above 1000 followers"
        ),
    ]

    private static func message(_ alert: Alert) -> AlertNotification {
        AlertNotification(
            alertId: alert.id,
            seq: 1,
            kind: .firing,
            receiver: "mail",
            rule: alert.rule,
            ruleVersion: alert.ruleVersion,
            severity: alert.severity,
            labels: alert.labels,
            group: [:],
            annotations: alert.annotations,
            startsAt: alert.startsAt,
            firedAt: alert.firedAt,
            detectedLateBySeconds: 0,
            evidence: alert.evidence,
            contributors: [],
            reproduceSQL: alert.reproduceSQL,
            revised: false,
            supersedesFiring: false,
            createdAt: alert.firedAt,
            externalURL: "https://push.example.org"
        )
    }

    private static func unreachable(_ receiver: String, _ severity: Severity) -> Alert {
        BuiltInAlertFactory.receiverUnreachable(
            ReceiverOutage(receiver: receiver, waitingSince: PageSample.now - .seconds(600), waiting: 3, lastError: "timed out"),
            severity,
            now: PageSample.now
        )
    }

    @Test("messages have the page's numbers, and counts only of attempts", arguments: samples)
    func numbers(_ sample: Sample) {
        var alert = PageSample.alert()
        let window = WindowCounts(first: alert.evidence.observed.first, minutes: 15, counts: sample.counts)
        alert.evidence = Evidence(
            definition: "test",
            level: sample.level,
            threshold: sample.threshold,
            observed: window,
            worst: window,
            expected: sample.expected
        )
        let facts = AlertText(Self.message(alert)).facts
        let numbers = AlertNumber.list(alert, now: PageSample.now)
        func fact(_ name: String) -> String? { facts.first { $0.name == name }?.value }
        func number(_ name: String) -> String? { numbers.first { $0.name == name }?.value }
        let counts = "\(sample.counts.bad) of \(sample.counts.attempts) attempts"
        #expect(fact("Observed") == sample.observed + (sample.showsCounts ? " (\(counts))" : ""))
        #expect(number("Observed") == sample.observed + (sample.showsCounts ? ", \(counts) in 15 min" : ", over 15 min"))
        #expect(fact("Threshold") == sample.thresholdPhrase)
        #expect(number("Threshold") == sample.thresholdPhrase)
        #expect(fact("Expected") == sample.expectedText)
        #expect(number("Expected") == sample.expectedText)
    }

    @Test("the worst window has its counts in a message")
    func worst() {
        let facts = AlertText(Self.message(PageSample.alert())).facts
        #expect(facts.first { $0.name == "Worst" }?.value == "9.65 % (221 of 2290 attempts)")
    }

    @Test("an alert about Pushwatch itself names its receiver, and has neither numbers nor a threshold")
    func builtIn() throws {
        let alert = Self.unreachable("slack", .page)
        let message = Self.message(alert)
        let text = AlertText(message)
        #expect(text.title == "[page] ReceiverUnreachable receiver=slack #\(text.shortId)")
        #expect(text.facts.map(\.name) == ["Since"])
        #expect(text.action?.hasPrefix("Notify them another way of what fires now. ") == true)
        let annotations = AlertmanagerAlert(message, now: PageSample.now).annotations
        #expect(annotations["observed"] == nil && annotations["threshold"] == nil)
        #expect(AlertNumber.list(alert, now: PageSample.now).map(\.name) == ["Began", "Fired", "Rule"])
        #expect(AlertWords.name(alert) == "ReceiverUnreachable · receiver=slack")
        #expect(AlertWords.over(alert) == "It is over: Receiver slack does not accept notifications, 3 notifications wait: timed out")
        let page = AlertPage(PageSample.alertData(alert), reader: PageSample.reader, now: PageSample.now)
        #expect(page.throttlePath == nil && page.silencePath != nil)
        let now = NowPage(
            PageSample.now(firing: [alert]),
            systemStatus: PageSample.systemStatus,
            reader: PageSample.reader,
            now: PageSample.now
        )
        let html = try PageTemplates().html(.now, now)
        #expect(html.contains("ReceiverUnreachable · receiver=slack") && !html.contains("threshold 0 %"))
    }

    @Test("a silence of an alert about a receiver mutes no other receiver's, nor the page that follows the ticket")
    func silence() {
        let matchers = SilenceDraft.matchers(of: Self.unreachable("slack", .ticket))
        func isMuted(_ alert: Alert) -> Bool { matchers.allSatisfy { $0.matches(alert.labels) } }
        #expect(isMuted(Self.unreachable("slack", .ticket)))
        #expect(!isMuted(Self.unreachable("pd", .ticket)))
        #expect(!isMuted(Self.unreachable("slack", .page)))
    }

    @Test("since when an alert fires has a date where that was on another day than the notification")
    func since() {
        var message = Self.message(PageSample.alert())
        message.startsAt = Timestamp(rfc3339: "2026-01-05T23:50:00Z")!
        message.createdAt = Timestamp(rfc3339: "2026-01-05T23:59:00Z")!
        #expect(AlertText(message).summary.contains("(since 23:50 UTC"))
        message.createdAt = Timestamp(rfc3339: "2026-01-06T00:01:00Z")!
        #expect(AlertText(message).summary.contains("(since 2026-01-05 23:50 UTC"))
    }

    @Test("a message that an alert is over does not say what it means, unless it is the first one")
    func over() {
        var message = Self.message(PageSample.alert())
        #expect(AlertText(message).meaning != nil)
        message.kind = .resolved
        #expect(AlertText(message).meaning == nil)
        message.supersedesFiring = true
        #expect(AlertText(message).meaning != nil)
    }
}
