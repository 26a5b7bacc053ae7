import AlertRules
import Attempts
import Foundation
import HTTPClient
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Alerting

@Suite("Built-in alerts")
struct BuiltInAlertTests {
    private static let start = Traffic.start.timestamp

    private static func minutes(_ count: Int64) -> Timestamp { start + .seconds(count * 60) }

    @Test(
        "a gap fires after five minutes of expected traffic, and keeps firing until a writer reports",
        arguments: [
            // beat, observed since, comparable attempts, was firing, now, expected — in minutes from a start.
            (0, 0, [10], false, 5, true),
            (0, 0, [10], false, 4, false),
            (0, 0, [9, 0, 9], false, 60, false),
            (0, 0, [0, 0, 10], false, 60, true),
            // The service was off as a whole: nobody is paged for the time before it looked.
            (0, 100, [500], false, 101, false),
            (0, 100, [500], false, 105, true),
            // Once it fires, it lasts without traffic, and ends with a fresh heartbeat.
            (0, 0, [], true, 600, true),
            (598, 0, [], true, 600, false),
        ] as [(Int64, Int64, [Int64], Bool, Int64, Bool)]
    )
    func gap(heartbeat: Int64, since: Int64, attempts: [Int64], wasFiring: Bool, now: Int64, expected: Bool) {
        let gap = DataGap(newestHeartbeat: Self.minutes(heartbeat), observedSince: Self.minutes(since), comparableAttempts: attempts)
        #expect(gap.isFiring(wasFiring: wasFiring, at: Self.minutes(now)) == expected)
    }

    @Test("where no writer ever reported there is no gap")
    func neverReported() {
        let gap = DataGap(newestHeartbeat: nil, observedSince: Self.start, comparableAttempts: [1000])
        #expect(!gap.isFiring(wasFiring: false, at: Self.minutes(600)))
    }

    @Test("EvaluatorDataGap fires, is delivered, and resolves with the next heartbeat")
    func dataGap() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<30, attempts: 10, bad: 0)
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            let heart = WriterHeartbeat(pool: pool, logger: .silent, now: { clock.now })
            for minute in 1...30 as ClosedRange<Int64> {
                clock.set(Self.minutes(minute))
                try await heart.heartbeat()
            }
            for minute in 31...40 {
                clock.set(Self.minutes(Int64(minute)))
                try await evaluator.evaluate(minutes: minute - 1)
            }
            let alert = try #require(try await AlertStore.open(on: pool).first)
            #expect(alert.rule == "EvaluatorDataGap" && alert.severity == .page)
            #expect(alert.startsAt == Self.minutes(31) && alert.firedAt == Self.minutes(35))
            #expect(alert.annotations["summary"]?.contains("since 2026-01-05 12:31 UTC") == true)
            #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing"])
            _ = try await pool.query(Query(text: alert.reproduceSQL))
            clock.set(Self.minutes(41))
            try await heart.heartbeat()
            try await evaluator.evaluate(minutes: 40)
            #expect(try await AlertStore.open(on: pool).isEmpty)
            #expect(try await Recorded.outbox(pool).map(\.kind).sorted() == ["firing", "resolved"])
        }
    }

    @Test("a built-in alert that begins under a silence is notified of when the silence ends; a later silence mutes it")
    func silenced() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<30, attempts: 10, bad: 0)
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            let heart = WriterHeartbeat(pool: pool, logger: .silent, now: { clock.now })
            for minute in 1...30 as ClosedRange<Int64> {
                clock.set(Self.minutes(minute))
                try await heart.heartbeat()
            }
            func pass(_ minutes: ClosedRange<Int64>) async throws -> Alert {
                for minute in minutes {
                    clock.set(Self.minutes(minute))
                    try await evaluator.evaluate(minutes: Int(minute) - 1)
                }
                return try #require(try await AlertStore.open(on: pool).first)
            }
            func silence(_ minutes: Range<Int64>) async throws {
                let silence = AlertSilence(
                    matchers: [SilenceMatcher(name: "alertname", value: "*")],
                    startsAt: Self.minutes(minutes.lowerBound),
                    endsAt: Self.minutes(minutes.upperBound),
                    author: "ada",
                    reason: "planned work",
                    createdAt: Self.start
                )
                try await SilenceStore.insert(silence, recording: .test(), on: pool)
            }
            try await silence(0..<38)
            #expect(try await pass(31...37).silencedBy != nil)
            #expect(try await Recorded.outbox(pool) == [])
            #expect(try await pass(38...39).silencedBy == nil)
            #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing"])
            try await silence(40..<45)
            #expect(try await pass(40...41).silencedBy != nil)
            let notifier = Notifier.forTest(pool, receivers: [.log], clock: clock) { _ in throw CancellationError() }
            #expect(try await notifier.deliverDue() == 0)
            #expect(try await pass(45...46).silencedBy == nil)
            #expect(try await notifier.deliverDue() == 1)
            #expect(try await Recorded.outbox(pool).map(\.kind) == ["firing"])
        }
    }

    @Test("a page that is rejected while the alert about a rejected ticket is open is another alert, and a page")
    func deadLetteredPage() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration.webhook("team", url: "http://team"), .webhook("chat", url: "http://chat")]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { request in
                OutboundResponse(status: request.url == "http://team" ? 404 : 200)
            }
            try await notifier.deliverDue()
            try await expireLeases("evaluator", on: pool)
            let evaluator = RuleEvaluator.forTest(pool, receivers: receivers, clock: clock)
            for (minutes, severity) in [(36, Severity.ticket), (37, .page), (38, .page)] {
                try await pool.execute("UPDATE alerts SET severity = \(severity.rawValue) WHERE rule = 'ProviderUnavailable'")
                clock.advance(.seconds(60))
                try await evaluator.evaluate(minutes: minutes)
                let open = try await AlertStore.open(rule: "NotificationsDeadLettered", on: pool)
                #expect(open.map(\.severity) == [severity])
                #expect(try await receiversNotified(pool, of: try #require(open.first?.id)) == ["chat"])
            }
            #expect(try await AlertStore.resolved(limit: 10, on: pool).map(\.severity) == [.ticket])
        }
    }

    @Test("what waits for the end of a silence or of quiet hours makes no receiver unreachable")
    func waitsOnPurpose() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let zone = try #require(TimeZone(identifier: "UTC"))
            let quiet = try #require(QuietHours("12:00-14:00", zone: zone))
            let hook = WebhookReceiver(name: "team", url: "http://team", secret: nil)
            let receivers = [ReceiverConfiguration(hook, policy: ReceiverPolicy(quiet: quiet))]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            try await pool.execute("UPDATE notifications SET attempts = 1")
            func outages() async throws -> [ReceiverOutage] {
                try await BuiltInStore.receiverOutages(ReceiverSet(receivers: receivers), now: clock.now, on: pool)
            }
            #expect(try await outages().map(\.receiver) == ["team"])
            try await pool.execute("UPDATE alerts SET severity = 'ticket'")
            #expect(try await outages() == [])
            try await pool.execute("UPDATE alerts SET severity = 'page', silencedBy = gen_random_uuid()")
            #expect(try await outages() == [])
            // It waits anew when the silence ends: the notifier had no time yet.
            clock.advance(.seconds(3600))
            try await pool.withTransaction { transaction in
                let id = try await transaction.query("UPDATE alerts SET silencedBy = NULL RETURNING alertId")[0].decode(UUID.self)
                let lease = AlertLease(name: "t", holder: "t", epoch: 0)
                try await AlertWriter(transaction: transaction, lease: lease, now: clock.now).enqueueMuted(id, receivers: ["team"])
            }
            #expect(try await outages().map(\.waitingSince) == [clock.now])
        }
    }

    @Test("LabelsFolded names the key, and ends an hour after its last folded attempt")
    func labelsFolded() async throws {
        try await withDatabase { pool in
            _ = try await Traffic(pool)
            let clock = ManualClock(Self.minutes(5))
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            for (author, label) in [("a's key", "app"), ("a's key", "appVersion"), ("pushwatch", "app")] {
                let fold = LabelLimiter.Fold(author: author, day: Self.start.minute / 1440, label: label, attempts: 3)
                try await FoldedLabelStore.add([fold], at: clock.now, on: pool)
                try await FoldedLabelStore.add([fold], at: clock.now, on: pool)
            }
            try await evaluator.evaluate(minutes: 3)
            let alerts = try await AlertStore.open(on: pool)
            #expect(Set(alerts.map { $0.labels["key"] }) == ["a's key", "pushwatch"])
            let alert = try #require(alerts.first { $0.labels["key"] == "a's key" })
            #expect(alert.rule == "LabelsFolded" && alert.severity == .ticket)
            #expect(alert.annotations["summary"]?.hasPrefix("a's key reports more values of app, appVersion ") == true)
            #expect(try await pool.query(Query(text: alert.reproduceSQL)).map { try $0.decode(Int64.self, at: 2) } == [6, 6])
            clock.set(Self.minutes(66))
            try await evaluator.evaluate(minutes: 64)
            #expect(try await AlertStore.open(on: pool).isEmpty)
        }
    }

    @Test("after an outage of the database a rule that fails once raises no alert; one that fails for two minutes does")
    func rulesNotEvaluatedAfterOutage() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<50, attempts: 10, bad: 0)
            let clock = ManualClock()
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            func pass(_ minute: Int) async throws -> [String] {
                clock.set(Self.minutes(Int64(minute) + 1))
                try await evaluator.evaluate(minutes: minute)
                return try await AlertStore.open(on: pool).map(\.rule)
            }
            #expect(try await pass(20) == [])
            try await breakCheckpoint(of: "ProviderUnavailable", pool)
            #expect(try await pass(40) == [])
            #expect(try await pass(41) == [])
            #expect(try await pass(42) == ["RulesNotEvaluated"])
        }
    }

    @Test("RulesNotEvaluated names a rule that is more than ten minutes behind for two minutes, once, and ends when it is evaluated again")
    func rulesNotEvaluated() async throws {
        try await withDatabase { pool in
            let traffic = try await Traffic(pool)
            try await traffic.add(0..<55, attempts: 10, bad: 0)
            let clock = ManualClock()
            let other = Rules.make("Other", Rules.provider5xx.condition, by: [.provider], severity: .ticket)
            let third = Rules.make("Third", Rules.provider5xx.condition, by: [.provider])
            let evaluator = RuleEvaluator.forTest(pool, [Rules.provider5xx, other, third], clock: clock)
            func pass(_ minutes: ClosedRange<Int>) async throws -> [Alert] {
                for minute in minutes {
                    clock.set(Self.minutes(Int64(minute) + 1))
                    try await evaluator.evaluate(minutes: minute)
                    let progress = try await RuleProgress.all(on: pool).first { $0.rule == "ProviderUnavailable" }
                    #expect(progress?.asOf == Traffic.start + (minute - 1), "the other rule is evaluated every minute")
                }
                return try await AlertStore.open(on: pool)
            }
            #expect(try await pass(20...20).isEmpty)
            try await breakCheckpoint(of: "Other", pool)
            #expect(try await pass(21...32).isEmpty)
            for minutes in [33...33, 34...35] {
                let alerts = try await pass(minutes)
                #expect(alerts.map(\.rule) == ["RulesNotEvaluated"] && alerts.map(\.severity) == [.ticket])
                #expect(alerts.first?.annotations["summary"] == "Not evaluated since 2026-01-05 12:20 UTC: Other")
                #expect(alerts.first?.startsAt == Self.minutes(20))
                _ = try await pool.query(Query(text: try #require(alerts.first).reproduceSQL))
            }
            // Of a rule that fails later people are notified, also when they know of the first one.
            let first = try #require(try await AlertStore.open(on: pool).first)
            #expect(try await AlertStore.acknowledge(first.id, recording: .test("Ada", at: clock.now), on: pool) == .now)
            try await breakCheckpoint(of: "Third", pool)
            #expect(try await pass(36...47).map(\.id) == [first.id])
            for minutes in [48...48, 49...50] {
                let alert = try #require(try await pass(minutes).first)
                #expect(alert.annotations["summary"] == "Not evaluated since 2026-01-05 12:20 UTC: Other, Third")
                #expect(alert.severity == .page && alert.acknowledgedAt == nil && alert.ownLabels == [:])
                #expect(alert.labels["rules"] == "Other,Third")
            }
            try await pool.execute("DELETE FROM alertCheckpoints WHERE groupKey = 'x'")
            #expect(try await pass(51...51).isEmpty)
            let kinds = try await Recorded.outbox(pool).map(\.kind).filter { $0 != "acknowledged" }
            #expect(kinds.sorted() == ["firing", "firing", "resolved", "resolved"])
        }
    }

    @Test("NotificationsDeadLettered goes to another receiver than the one that refused, and ends when it takes a message again")
    func notificationsDeadLettered() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration.webhook("team", url: "http://team"), .webhook("chat", url: "http://chat")]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            let refuses = Mutex(true)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { request in
                let status = request.url == "http://team" && refuses.withLock { $0 } ? 404 : 200
                return OutboundResponse(status: status, headers: [], body: [], connectionId: 0, latency: .zero, httpVersion: .http1)
            }
            try await notifier.deliverDue()
            let evaluator = RuleEvaluator.forTest(pool, receivers: receivers, clock: clock, leaseDuration: .seconds(60))
            try await expireLeases("evaluator", on: pool)
            clock.advance(.seconds(60))
            try await evaluator.evaluate(minutes: 36)
            let alert = try #require(try await AlertStore.open(on: pool).first { $0.rule == "NotificationsDeadLettered" })
            #expect(alert.labels["receiver"] == "team" && alert.severity == .page)
            #expect(alert.annotations["summary"]?.hasPrefix("Receiver team rejected a notification:") == true)
            #expect(try await receiversNotified(pool, of: alert.id) == ["chat"])
            _ = try await pool.query(Query(text: alert.reproduceSQL))
            // Again a minute later: nothing new.
            clock.advance(.seconds(60))
            try await evaluator.evaluate(minutes: 37)
            #expect(try await AlertStore.open(on: pool).filter { $0.rule == "NotificationsDeadLettered" }.count == 1)
            // The outage ends, and the repaired receiver takes a message.
            refuses.withLock { $0 = false }
            clock.set((Traffic.start + 60).timestamp + .seconds(60))
            try await evaluator.evaluate(minutes: 60)
            try await notifier.deliverDue()
            clock.advance(.seconds(60))
            try await evaluator.evaluate(minutes: 61)
            #expect(try await AlertStore.open(on: pool).filter { $0.rule == "NotificationsDeadLettered" }.isEmpty)
        }
    }

    @Test(
        "a receiver that cannot be reached is a ticket after minutes, and a page through another one when pages wait for it",
        arguments: [Severity.page, .ticket]
    )
    func receiverUnreachable(_ severity: Severity) async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration.webhook("team", url: "http://team"), .webhook("chat", url: "http://chat")]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            try await pool.execute("UPDATE alerts SET severity = \(severity.rawValue)")
            let isDown = Mutex(true)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { request in
                if request.url == "http://team" && isDown.withLock({ $0 }) {
                    throw OutboundFailure(.notWritten, .connect, detail: "refused")
                }
                return OutboundResponse(status: 200, headers: [], body: [], connectionId: 0, latency: .zero, httpVersion: .http1)
            }
            try await notifier.deliverDue()
            let evaluator = RuleEvaluator.forTest(pool, receivers: receivers, clock: clock, leaseDuration: .seconds(60))
            func open() async throws -> [Alert] { try await AlertStore.open(rule: "ReceiverUnreachable", on: pool) }
            func pass(after wait: Duration, minutes: Int) async throws {
                try await expireLeases("evaluator", on: pool)
                clock.advance(wait)
                try await evaluator.evaluate(minutes: minutes)
            }
            let limit = severity == .page ? ReceiverOutage.pageAfter : ReceiverOutage.ticketAfter
            try await pass(after: limit - .seconds(60), minutes: 36)
            #expect(try await open().isEmpty)
            try await pass(after: .seconds(60), minutes: 37)
            let alert = try #require(try await open().first)
            #expect(alert.labels["receiver"] == "team" && alert.severity == severity)
            #expect(alert.annotations["summary"]?.contains("refused") == true, "\(alert.annotations)")
            #expect(try await receiversNotified(pool, of: alert.id) == ["chat"])
            _ = try await pool.query(Query(text: alert.reproduceSQL))
            isDown.withLock { $0 = false }
            clock.advance(.seconds(400))
            try await notifier.deliverDue()
            try await pass(after: .seconds(60), minutes: 38)
            #expect(try await open().isEmpty)
        }
    }

    @Test("the end of a page that a receiver does not accept pages nobody: it is a ticket", arguments: [500, 404])
    func undeliveredEnd(_ status: Int) async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration.webhook("team", url: "http://team"), .webhook("chat", url: "http://chat")]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            let isDown = Mutex(false)
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { request in
                OutboundResponse(status: request.url == "http://team" && isDown.withLock { $0 } ? status : 200)
            }
            try await notifier.deliverDue()
            isDown.withLock { $0 = true }
            let evaluator = RuleEvaluator.forTest(pool, receivers: receivers, clock: clock)
            func pass(minutes: Int) async throws -> [String] {
                try await expireLeases("evaluator", on: pool)
                clock.set((Traffic.start + minutes).timestamp + .seconds(60))
                try await evaluator.evaluate(minutes: minutes)
                return try await AlertStore.open(on: pool).map { "\($0.rule) \($0.severity)" }
            }
            #expect(try await pass(minutes: 60) == [])
            try await notifier.deliverDue()
            let rejected = status == 404 ? ["NotificationsDeadLettered ticket"] : []
            #expect(try await pass(minutes: 63) == rejected)
            #expect(try await pass(minutes: 65) == (status == 404 ? rejected : ["ReceiverUnreachable ticket"]))
        }
    }

    @Test("notifications for a name that is not configured wait, are reported, and are delivered once it is")
    func notConfigured() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let team = ReceiverConfiguration.webhook("team", url: "http://team")
            let chat = ReceiverConfiguration.webhook("chat", url: "http://chat")
            try await fireOnce(pool, receivers: [team, chat], clock: clock)
            let answer: AlertHTTP = { _ in
                OutboundResponse(status: 200, headers: [], body: [], connectionId: 0, latency: .zero, httpVersion: .http1)
            }
            func deliver(_ receivers: [ReceiverConfiguration]) async throws {
                try await expireLeases(on: pool)
                try await Notifier.forTest(pool, receivers: receivers, clock: clock, send: answer).deliverDue()
            }
            func evaluate(minutes: Int) async throws {
                try await expireLeases(on: pool)
                try await RuleEvaluator.forTest(pool, receivers: [chat], clock: clock).evaluate(minutes: minutes)
            }
            func states() async throws -> [String] {
                try await pool.query(
                    """
                    SELECT receiver || ' ' || n.state FROM notifications n JOIN alerts USING (alertId)
                    WHERE rule <> 'ReceiverUnreachable' ORDER BY 1
                    """
                ).map { try $0.decode(String.self) }
            }
            try await deliver([chat])
            #expect(try await states() == ["chat delivered", "team pending"])
            clock.advance(ReceiverOutage.pageAfter)
            try await evaluate(minutes: 36)
            let alert = try #require(try await AlertStore.open(rule: "ReceiverUnreachable", on: pool).first)
            #expect(alert.annotations["summary"]?.contains("no receiver of this name is configured") == true)
            try await deliver([team, chat])
            #expect(try await states() == ["chat delivered", "team delivered"])
            // An hour after the end of its alert it is given up.
            try await pool.execute("UPDATE notifications SET state = 'pending', settledAt = NULL WHERE receiver = 'team'")
            try await pool.execute(
                "UPDATE alerts SET state = 'resolved', resolvedAt = \(clock.now - .seconds(3600)) WHERE rule <> 'ReceiverUnreachable'"
            )
            clock.advance(.seconds(60))
            try await evaluate(minutes: 37)
            #expect(try await states() == ["chat delivered", "team undelivered"])
        }
    }

    private func receiversNotified(_ pool: PostgresPool, of id: UUID) async throws -> [String] {
        try await pool.query("SELECT receiver FROM notifications WHERE alertId = \(id) ORDER BY 1").map { try $0.decode(String.self) }
    }

    @Test("of two receivers that refuse, neither is notified of the other; a log alone is not enough")
    func others() {
        let hooks = ["a", "b", "c"].map { ReceiverConfiguration.webhook($0, url: "http://\($0)") }
        let all = ReceiverSet(receivers: hooks + [.log])
        #expect(all.names(for: .page, except: ["a", "b"]) == ["c", "log"])
        let routed = ReceiverSet(receivers: hooks + [.log], routes: [AlertRoute(severities: [.page], receivers: ["a", "log"])])
        #expect(routed.names(for: .page, except: ["a"]) == ["b", "c", "log"])
        #expect(ReceiverSet(receivers: [hooks[0]]).names(for: .page, except: ["a"]) == [])
    }

    @Test("the dead man's switch calls while alerts are evaluated and delivered, and only then")
    func deadMansSwitch() async throws {
        try await withDatabase { pool in
            let clock = ManualClock(Self.minutes(10))
            let calls = Mutex(0)
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            let notifier = Notifier.forTest(pool, receivers: [.log], clock: clock) { _ in throw CancellationError() }
            let heart = DeadMansSwitch(
                url: "https://ping.example.org/x",
                pool: pool,
                evaluator: evaluator,
                receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
                logger: .silent,
                now: { clock.now }
            ) { request in
                #expect(request.method == "GET" && request.url == "https://ping.example.org/x")
                calls.withLock { $0 += 1 }
                return OutboundResponse(status: 200, headers: [], body: [], connectionId: 0, latency: .zero, httpVersion: .http2)
            }
            #expect(await heart.check() == false, "nothing was evaluated yet")
            try await evaluator.evaluate(minutes: 9)
            #expect(await heart.check() == false, "nobody delivers")
            try await notifier.deliverDue()
            #expect(await heart.check())
            clock.advance(.seconds(200))
            #expect(await heart.check() == false, "the evaluator hangs")
            try await evaluator.evaluate(minutes: 12)
            #expect(await heart.check())
            #expect(calls.withLock { $0 } == 2)
        }
    }

    @Test("a page that waits for a receiver that is not configured does not stop the calls; one that waits for a configured one does")
    func deadMansSwitchOfRemovedReceiver() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let team = ReceiverConfiguration.webhook("team", url: "http://team")
            try await fireOnce(pool, receivers: [team], clock: clock)
            try await expireLeases(on: pool)
            let evaluator = RuleEvaluator.forTest(pool, clock: clock)
            let notifier = Notifier.forTest(pool, receivers: [.log], clock: clock) { _ in throw CancellationError() }
            try await evaluator.evaluate(minutes: 36)
            try await notifier.deliverDue()
            clock.advance(.seconds(200))
            try await evaluator.evaluate(minutes: 39)
            #expect(try await pool.query("SELECT state FROM notifications WHERE receiver = 'team'")[0].decode(String.self) == "pending")
            for (configured, isWell) in [([ReceiverConfiguration.log], true), ([team], false)] {
                let heart = DeadMansSwitch(
                    url: "https://ping.example.org/x",
                    pool: pool,
                    evaluator: evaluator,
                    receivers: ReceiverRegistry(fixed: configured, logger: .silent),
                    logger: .silent,
                    now: { clock.now }
                ) { _ in OutboundResponse(status: 200) }
                #expect(await heart.check() == isWell)
            }
        }
    }

    @Test("no rule takes the name of a built-in alert")
    func reserved() {
        let text = """
            groups:
              - name: g
                rules:
                  - alert: NotificationsDeadLettered
                    ratio: { reason: [auth], above: 1% }
                    for: 10m
                    labels: { severity: page }
                    annotations: { summary: s, meaning: m, action: a, runbook: "https://example.org" }
            """
        let set = RuleSet.read([SourceText(path: "x.yml", text: text)]) { _ in true }
        #expect(set.findings.map(\.message).contains { $0.contains("an alert of Pushwatch itself") })
    }
}
