import Foundation
import HTTPServer
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("What is due to devices without Live Activities")
struct OtherDevicesDecisionTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private static func subject(_ change: (inout LiveSubject) -> Void = { _ in }) -> LiveSubject {
        var subject = LiveSubject(
            id: "PagerActivityAttributes/i-7",
            attributesType: "PagerActivityAttributes",
            attributes: #"{"recipient":"Ann"}"#,
            state: #"{"message":"Disk full"}"#,
            stateHash: "h",
            timestamp: now.seconds,
            builtAt: now,
            event: .quiet,
            startAlert: LiveSubject.Alert(title: "Pager", body: "On call"),
            isLive: true,
            isOver: false,
            epoch: 1
        )
        change(&subject)
        return subject
    }

    private static func alert(_ age: Int, priority: Int = 2, _ title: String = "Alert") -> SubjectAlert {
        SubjectAlert(
            timestamp: now.seconds - Int64(age),
            builtAt: now - .seconds(age),
            priority: priority,
            alert: LiveSubject.Alert(title: title, body: "Body")
        )
    }

    private static func confirmed(_ age: Int) -> Freshness { Freshness(confirmedAt: now - .seconds(age), freshFor: .seconds(1800)) }

    private static func sent(_ age: Int) -> OtherDevicesProgress {
        let at = now - .seconds(age)
        return OtherDevicesProgress(stateTimestamp: at.seconds, sentAt: at, sentOrder: at.microseconds / 1000, alertTimestamp: at.seconds)
    }

    private static func decide(
        _ subject: LiveSubject = subject(),
        _ alerts: [SubjectAlert] = [],
        after progress: OtherDevicesProgress,
        policy change: (inout OtherDevicesPolicy) -> Void = { _ in }
    ) -> OtherDevicesDecision? {
        var policy = OtherDevicesPolicy()
        change(&policy)
        return OtherDevicesDecision(subject, alerts: alerts, after: progress, policy, now: now)
    }

    @Test("the first state alerts everybody; one that nobody has seen for minutes alerts nobody")
    func first() throws {
        let first = try #require(Self.decide(after: OtherDevicesProgress()))
        #expect(first.liveUpdate?.isAlerting == true && first.keyEvent?.title == "Pager")
        let old = try #require(Self.decide(Self.subject { $0.builtAt = Self.now - .seconds(300) }, after: OtherDevicesProgress()))
        #expect(old.liveUpdate?.isAlerting == false && old.liveUpdate?.alert == nil && old.keyEvent == nil)
    }

    @Test("the evening's state and its alert leave as others do, until the day's end; a correction at night starts no card")
    func evening() throws {
        let stumps = Self.subject { subject in
            (subject.isLive, subject.isDayOver, subject.restingFrom) = (false, true, Self.now + .seconds(30))
        }
        let decision = try #require(Self.decide(stumps, [Self.alert(0, priority: 1, "WICKET!")], after: Self.sent(3600)))
        #expect(decision.event == .state && decision.keyEvent?.title == "WICKET!" && decision.liveUpdate != nil)
        var ended = Self.sent(3600)
        ended.hasEnded = true
        #expect(Self.decide(stumps, after: ended) == nil)
        #expect(Self.decide(stumps, after: OtherDevicesProgress()) == nil)
        var night = stumps
        night.restingFrom = Self.now
        #expect(Self.decide(night, after: decision.progress)?.event == .end(.stumps, cause: nil))
    }

    @Test("states: every 15 s at most, never without a newer one, never out of date; alerts at once and the most important one")
    func states() throws {
        #expect(Self.decide(after: Self.sent(14)) == nil)
        #expect(Self.decide(after: Self.sent(15))?.liveUpdate?.isAlerting == false)
        #expect(Self.decide(Self.subject { $0.timestamp -= 20 }, after: Self.sent(20)) == nil)
        #expect(Self.decide(Self.subject { $0.staleAt = Self.now }, after: Self.sent(60))?.liveUpdate != nil, "a second later")
        #expect(Self.decide(Self.subject { $0.freshness = Self.confirmed(1801) }, after: Self.sent(60)) == nil)
        let both = try #require(
            Self.decide(Self.subject(), [Self.alert(1, priority: 1, "One"), Self.alert(0, "Two")], after: Self.sent(2))
        )
        #expect(both.keyEvent?.title == "One" && both.isCritical && both.progress.alertTimestamp == Self.now.seconds)
        #expect(both.undelivered.map(\.outcome) == [.merged] && both.undelivered[0].alert.alert.title == "Two")
        #expect(Self.decide(Self.subject(), [Self.alert(121)], after: Self.sent(130))?.keyEvent == nil, "nobody is alerted of it any more")
    }

    @Test("a look for newcomers that comes too soon for the state delays it no further; one that finds nothing due does")
    func looks() {
        var registry = OtherDevicesRegistry()
        let subject = Self.subject()
        func isDue(lookedAt seconds: Int, sent age: Int) -> Bool {
            registry.record(subject, Self.sent(age), now: Self.now - .seconds(seconds))
            return registry.isDue(subject, alertTimestamp: 0, now: Self.now)
        }
        #expect(isDue(lookedAt: 2, sent: 15) && !isDue(lookedAt: 2, sent: 14))
        #expect(!isDue(lookedAt: 2, sent: 17) && isDue(lookedAt: 15, sent: 30))
    }

    @Test("policies: alerts alone, none, and the result")
    func policies() throws {
        #expect(Self.decide(after: Self.sent(60)) { $0.android = .alerts } == nil)
        #expect(Self.decide(Self.subject(), [Self.alert(0)], after: Self.sent(60)) { $0.android = .alerts }?.liveUpdate != nil)
        let none = Self.decide(Self.subject(), [Self.alert(0)], after: Self.sent(60)) { policy in
            (policy.android, policy.others) = (.none, .none)
        }
        #expect(none == nil)
        let over = Self.subject { subject in (subject.isLive, subject.isOver) = (false, true) }
        #expect(Self.decide(over, after: Self.sent(1))?.keyEvent == nil)
        let result = try #require(Self.decide(over, after: Self.sent(1)) { $0.result = true })
        #expect(result.keyEvent?.title == "Pager" && result.event == .end(.matchEnd, cause: nil) && result.liveUpdate != nil)
        #expect(Self.decide(over, after: result.progress) { $0.result = true } == nil, "it ends once")
        #expect(Self.decide(over, after: OtherDevicesProgress()) == nil, "nothing was ever shown")
    }

    @Test("an end after that of its day is another one, and leaves once; a correction of it goes to Android, once and without an alert")
    func endAfterStumps() throws {
        var progress = Self.sent(3600)
        progress.hasEnded = true
        var over = Self.subject { subject in (subject.isLive, subject.isOver, subject.endedAt) = (false, true, Self.now) }
        let end = try #require(Self.decide(over, after: progress) { $0.result = true })
        #expect(end.event == .end(.matchEnd, cause: nil) && end.keyEvent?.title == "Pager" && end.liveUpdate != nil)
        #expect(Self.decide(over, after: end.progress) { $0.result = true } == nil)
        over.timestamp += 5
        let correction = try #require(Self.decide(over, after: end.progress) { $0.result = true })
        #expect(correction.event == end.event && correction.liveUpdate?.isAlerting == false && correction.keyEvent == nil)
        #expect(Self.decide(over, after: correction.progress) { $0.result = true } == nil)
        let late = Self.decide(over, [Self.alert(0, "Draw"), Self.alert(0, priority: 1, "Won")], after: progress)
        #expect(late?.keyEvent?.title == "Won" && late?.undelivered.map(\.alert.alert.title) == ["Draw"])
    }

    @Test("a feed that is silent for six hours ends it, and it comes back with the feed; the order always increases")
    func silent() throws {
        let silent = try #require(Self.decide(Self.subject { $0.freshness = Self.confirmed(6 * 3600 + 1) }, after: Self.sent(60)))
        #expect(silent.event == .end(.matchEnd, cause: "feed_silent"))
        let back = try #require(Self.decide(Self.subject { $0.freshness = Self.confirmed(0) }, after: silent.progress))
        #expect(back.event == .state && back.liveUpdate != nil && back.progress.sentOrder > silent.progress.sentOrder)
        var ahead = Self.sent(60)
        ahead.sentOrder = (Self.now + .seconds(60)).microseconds / 1000
        #expect(Self.decide(after: ahead)?.progress.sentOrder == ahead.sentOrder + 1, "another process's clock was ahead")
    }

    @Test("expiry: the stale date; five minutes for a state that is soon followed by another; four hours for an end")
    func expiry() throws {
        let subject = Self.subject()
        let stale = Self.now + .seconds(1800)
        #expect(Self.decide(after: Self.sent(600))?.expiry(subject, after: Self.now - .seconds(600), now: Self.now) == stale)
        #expect(
            Self.decide(after: Self.sent(60))?.expiry(subject, after: Self.now - .seconds(60), now: Self.now) == Self.now + .seconds(300)
        )
        let alerting = Self.decide(subject, [Self.alert(0)], after: Self.sent(60))
        #expect(alerting?.expiry(subject, after: Self.now - .seconds(60), now: Self.now) == stale)
    }

    @Test("the payload: strings alone, below 4 KB whatever the state, without the attributes first")
    func payload() throws {
        let data = LiveUpdateMessage.data(Self.subject(), LiveUpdateMapping(), order: 7, alert: Self.alert(0))
        #expect(data["live"] == "1" && data["type"] == "PagerActivityAttributes" && data["id"] == "i-7" && data["order"] == "7")
        #expect(data["contentState"] == #"{"message":"Disk full"}"# && data["attributes"] == #"{"recipient":"Ann"}"#)
        #expect(data["alertId"] == "\(Self.now.seconds)" && data["alertSound"] == "default")
        for size in [3000, 5000] {
            let large = Self.subject { subject in
                subject.state = #"{"message":"\#(String(repeating: "x", count: size))"}"#
                subject.attributes = #"{"recipient":"\#(String(repeating: "y", count: 900))"}"#
            }
            let data = LiveUpdateMessage.data(large, LiveUpdateMapping(), order: 7, alert: Self.alert(0))
            #expect(data.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } <= 4096)
            #expect((data["contentState"] != nil) == (size == 3000) && (data["attributes"] == nil) == (size == 3000))
        }
    }

    @Test(
        "the score card of a match is its title and text, and the progress of a chase the runs of its target",
        arguments: [(nil, nil), (98, #"{"max":98,"value":58}"#), (57, #"{"max":57,"value":57}"#)] as [(Int?, String?)]
    )
    func match(target: Int?, progress: String?) throws {
        let state = UnifiedDisplayState(
            matchId: "m1",
            seq: 1,
            phase: "live",
            title: "RR v KKR",
            status: "KKR need 40 from 24",
            innings: [.init(no: 1, team: "KKR", runs: 58, wickets: 3, overs: "8.2", target: target)],
            batters: [],
            recent: [],
            tier: 0,
            updatedAt: 1
        )
        let subject = Self.subject { subject in
            subject.attributesType = "MatchActivityAttributes"
            subject.state = String(decoding: (try? JSONEncoder().encode(state)) ?? Data(), as: UTF8.self)
        }
        let card = LiveUpdateCard(subject, LiveUpdateMapping())
        #expect(card.title == "RR v KKR" && card.text == "KKR 58/3 (8.2) · KKR need 40 from 24" && card.shortText == "58/3")
        #expect(card.progress?.text == progress)
    }

    @Test("a type's file: unknown names, members and choices stop the start with their place")
    func file() throws {
        func type(_ otherDevices: String) throws -> AttributesType {
            try AttributesType(
                file: try JSONParser.read(
                    Array(
                        """
                        {"name": "T", "attributes": {"type": "object", "properties": {"home": {"type": "string"}}},
                         "contentState": {"type": "object", "properties": {"stage": {"type": "string"}, "eta": {"type": "integer"}}},
                         "otherDevices": \(otherDevices)}
                        """.utf8
                    )
                )
            )
        }
        let good = try type(
            #"{"android": "alerts", "others": "none", "liveUpdate": {"title": "{home}", "progress": {"of": "stage", "values": {"near": 2}}, "when": "eta", "chronometer": "down"}}"#
        )
        #expect(good.otherDevices.android == .alerts && good.otherDevices.others == .none)
        let card = LiveUpdateCard(
            Self.subject { subject in (subject.attributes, subject.state) = (#"{"home":"A"}"#, #"{"stage":"near","eta":5}"#) },
            good.otherDevices.liveUpdate
        )
        #expect(card.title == "A" && card.progress?.text == #"{"value":2}"# && card.when == 5 && card.chronometer == .down)
        for (file, place) in [
            (#"{"android": "maybe"}"#, "/otherDevices/android"), (#"{"ios": 1}"#, "/otherDevices/ios"),
            (#"{"liveUpdate": {"title": "{nobody}"}}"#, "/otherDevices/liveUpdate/title"),
            (#"{"liveUpdate": {"progress": "nothing"}}"#, "/otherDevices/liveUpdate/progress"),
            (#"{"liveUpdate": {"colour": "red"}}"#, "/otherDevices/liveUpdate/colour"),
        ] {
            let error = #expect(throws: SchemaError.self) { try type(file) }
            #expect(error?.pointer == place)
        }
    }
}
