import Cricket
import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Delivery
@testable import LiveActivities

@Suite("Alerts before a match")
struct PrematchTests {
    private static let lead = Duration.seconds(15 * 60)

    private func alerts(_ bench: LiveBench, sends: SendStore? = nil) -> PrematchAlerts {
        PrematchAlerts(
            pool: bench.pool,
            sends: sends ?? bench.instance.sends,
            check: SendValidation.checker { _, _, _ in bench.apns },
            lead: Self.lead,
            now: { [clock = bench.clock] in clock.now },
            logger: .silent
        )
    }

    private func start(_ bench: LiveBench, at startsAt: Timestamp, phase: String = "scheduled") async throws {
        try await bench.score(phase: phase, runs: 0)
        try await bench.pool.execute("UPDATE activeMatches SET startsAt = \(startsAt)")
    }

    @Test("1,000 followers, 5 % of them with dead tokens, get one alert each at the moved start; dead tokens are deactivated")
    func many() async throws {
        try await LiveBench.with { bench in
            try await LiveFixture(pool: bench.pool, cipher: BenchParts.cipher).followers(0..<1000, of: "m1", now: bench.now)
            let dead = (0..<1000).filter { $0 % 20 == 7 }
            for number in dead { bench.apns.answer(LiveFixture.token("a", number), .apns(410, "Unregistered")) }
            let alerts = alerts(bench)
            let first = bench.now + .seconds(3600)
            try await start(bench, at: first)
            try await alerts.look()
            #expect(try await bench.count("SELECT count(*) FROM pushSends") == 0, "not due yet")
            let moved = first + .seconds(1800)
            try await start(bench, at: moved)
            bench.clock.advance(.seconds(50 * 60))
            try await alerts.look()
            #expect(try await bench.count("SELECT count(*) FROM pushSends") == 0, "due at the first start only")
            bench.clock.advance(.seconds(25 * 60))
            // Two instances at once, and again.
            async let one: Void = alerts.look()
            async let other: Void = alerts.look()
            _ = try await (one, other)
            try await alerts.look()
            try await bench.instance.send()
            #expect(bench.apns.calls.count == 1000 && Set(bench.apns.calls.map(\.token)).count == 1000)
            #expect(
                Set(bench.apns.calls.map { "\($0.message.title ?? "") \($0.message.body ?? "")" }) == ["RR v KKR Starts in 15 minutes."]
            )
            #expect(try await bench.count("SELECT count(*) FROM devices WHERE tokenState = 'inactive'") == 50)
            #expect(try await bench.count("SELECT count(*) FROM notificationDeliveryAttempts WHERE status = 'deactivated'") == 50)
            // It moves once more: only who came since is alerted.
            try await bench.phone("late", "late", 1)
            try await bench.follow("late")
            bench.apns.forget()
            try await start(bench, at: moved + .seconds(7200))
            bench.clock.advance(.seconds(7200))
            try await alerts.look()
            try await bench.instance.send()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.token(1)])
        }
    }

    /// Rows of a table with this sendId are refused until `DROP FUNCTION refuse CASCADE`.
    private func refuse(_ table: String, _ sendId: String, _ bench: LiveBench) async throws {
        try await bench.pool.execute(
            """
            CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$
            """
        )
        try await bench.pool.execute(
            """
            CREATE TRIGGER refuse BEFORE INSERT ON \(raw: table) FOR EACH ROW WHEN (NEW.sendId LIKE '\(raw: sendId)')
            EXECUTE FUNCTION refuse()
            """
        )
    }

    @Test("a match whose alert, or whose cancel, fails keeps no other waiting, and is tried again")
    func oneFails() async throws {
        try await LiveBench.with { bench in
            for (user, number) in [("ann", 1), ("bob", 2)] {
                try await bench.phone(user, user, number, startToken: false)
                try await bench.follow(user, "m\(number)")
                try await bench.score("m\(number)", phase: "scheduled", runs: 0)
            }
            let alerts = alerts(bench)
            try await bench.pool.execute("UPDATE activeMatches SET startsAt = \(bench.now + .seconds(600))")
            try await refuse("pushSends", "prematch~m1-%", bench)
            try await alerts.look()
            try await bench.instance.send()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.token(2)])
            try await bench.pool.execute("DROP FUNCTION refuse CASCADE")
            try await alerts.look()
            try await bench.instance.send()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.token(2), LiveBench.token(1)])
            // Both move. As long as the alert of one cannot be cancelled, it has no other: that would be for who came since alone.
            try await refuse("pushCancels", "prematch~m1-%", bench)
            try await bench.phone("cid", "cid", 3, startToken: false)
            for matchId in ["m1", "m2"] { try await bench.follow("cid", matchId) }
            try await bench.pool.execute("UPDATE activeMatches SET startsAt = \(bench.now + .seconds(700))")
            try await alerts.look()
            let stored: Query = "SELECT count(*) FROM pushSends WHERE sendId LIKE 'prematch~m1-%'"
            #expect(try await bench.count(stored) == 1)
            #expect(try await bench.count("SELECT count(*) FROM pushSends WHERE sendId LIKE 'prematch~m2-%'") == 2)
            try await bench.pool.execute("DROP FUNCTION refuse CASCADE")
            try await alerts.look()
            #expect(try await bench.count(stored) == 2)
            bench.apns.forget()
            try await bench.instance.send()
            #expect(bench.apns.calls.map(\.token) == [LiveBench.token(3), LiveBench.token(3)])
        }
    }

    @Test("an alert that is cancelled, and whose deliveries cannot end yet, has no other before they have")
    func cancelledLater() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1, startToken: false)
            try await bench.follow("ann")
            let alerts = alerts(bench)
            let startsAt = bench.now + .seconds(600)
            try await start(bench, at: startsAt)
            try await alerts.look()
            // As behind a circuit.
            try await bench.pool.execute(
                """
                WITH moved AS (DELETE FROM pushReady RETURNING deliveryId, queue, attemptNumber)
                INSERT INTO pushScheduled (deliveryId, queue, runAt, attemptNumber)
                SELECT deliveryId, queue, clock_timestamp() + interval '1 hour', attemptNumber FROM moved
                """
            )
            try await bench.pool.execute("ALTER TABLE pushFinishedSingles ADD CONSTRAINT refuse CHECK (outcome <> 'cancelled')")
            try await start(bench, at: startsAt + .seconds(60))
            for _ in 1...2 {
                try await alerts.look()
                #expect(try await bench.count("SELECT count(*) FROM pushCancels") == 1)
                #expect(try await bench.count("SELECT count(*) FROM pushSends") == 1)
            }
            try await bench.pool.execute("ALTER TABLE pushFinishedSingles DROP CONSTRAINT refuse")
            try await alerts.look()
            try await bench.instance.send()
            #expect(bench.apns.calls.count == 1)
        }
    }

    @Test("what waits is cancelled when the match moves or does not begin; who got none gets one at the new start")
    func cancelled() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1, startToken: false)
            try await bench.follow("ann")
            let alerts = alerts(bench)
            let startsAt = bench.now + .seconds(600)
            try await start(bench, at: startsAt)
            try await alerts.look()
            #expect(try await bench.count("SELECT count(*) FROM pushReady") == 1)
            try await start(bench, at: startsAt + .seconds(3600))
            try await alerts.look()
            try await bench.instance.send()
            #expect(bench.apns.calls.isEmpty)
            bench.clock.advance(.seconds(3600))
            try await alerts.look()
            try await start(bench, at: startsAt + .seconds(3600), phase: "abandoned")
            try await alerts.look()
            try await bench.instance.send()
            #expect(bench.apns.calls.isEmpty)
            #expect(try await bench.count("SELECT count(*) FROM pushFinished WHERE outcome = 'cancelled'") == 2)
            try await start(bench, at: startsAt + .seconds(3700))
            try await alerts.look()
            try await bench.instance.send()
            #expect(bench.apns.calls.count == 1)
        }
    }

    @Test("a start that is given again after it was withdrawn alerts all whose alert was cancelled, or not stored yet, once")
    func givenAgain() async throws {
        try await LiveBench.with { bench in
            for number in 1...7 {
                try await bench.phone("u\(number)", "phone-\(number)", number, startToken: false)
                try await bench.follow("u\(number)")
            }
            let sends = SendStore(
                pool: bench.pool,
                fanOutSizes: FanOutSizes(devicesAtOnce: 3, people: 2),
                selection: LiveRecipients.self,
                record: BenchParts.recorder()
            )
            let (alerts, fanOut) = (alerts(bench, sends: sends), FanOutService(store: sends, wake: WakeSignal(), logger: .silent))
            let startsAt = bench.now + .seconds(600)
            func giveAgain() async throws {
                try await bench.pool.execute("UPDATE activeMatches SET startsAt = NULL")
                try await alerts.look()
                try await bench.pool.execute("UPDATE activeMatches SET startsAt = \(startsAt)")
                try await alerts.look()
            }
            try await start(bench, at: startsAt)
            try await alerts.look()
            #expect(try await bench.count("SELECT count(*) FROM pushDeliveries") == 2)
            try await giveAgain()
            #expect(try await bench.count("SELECT count(*) FROM pushSends") == 1, "two deliveries have not ended")
            try await bench.instance.send()
            #expect(bench.apns.calls.isEmpty)
            try await alerts.look()
            try await fanOut.storeAll()
            try await bench.instance.send()
            try await giveAgain()
            try await bench.instance.send()
            #expect(bench.apns.calls.map(\.token).sorted() == (1...7).map(LiveBench.token))
        }
    }

    @Test("a send that a person cancelled is not made again for the same start")
    func cancelledByPerson() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1, startToken: false)
            try await bench.follow("ann")
            let alerts = alerts(bench)
            try await start(bench, at: bench.now + .seconds(600))
            try await alerts.look()
            let sendId = try await bench.pool.query("SELECT sendId FROM pushSends")[0].decode(String.self)
            #expect(try await bench.instance.sends.cancel(sendId, author: "eva") == 0)
            try await bench.instance.send()
            try await alerts.look()
            #expect(try await bench.count("SELECT count(*) FROM pushSends") == 1)
        }
    }

    @Test("a feed moves the start and nothing else: the alert goes before the new start, and none before the old one")
    func moved() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1, startToken: false)
            try await bench.follow("ann")
            let store = MatchStore(pool: bench.pool)
            var score = try #require(try MatchSamples.scores().first { $0.phase == .scheduled })
            score.sequence = 1
            score.startsAt = bench.now + .seconds(1800)
            #expect(try await store.accept(score, now: bench.now).result == .accepted)
            score.sequence = 2
            score.startsAt = bench.now + .seconds(5400)
            #expect(try await store.accept(score, now: bench.now).result == .unchanged)
            let alerts = alerts(bench)
            for sent in [0, 1] {
                bench.clock.advance(.seconds(sent == 0 ? 1200 : 3600))
                try await alerts.look()
                try await bench.instance.send()
                #expect(bench.apns.calls.count == sent)
            }
        }
    }

    @Test("a start that a scheduled match no longer has is known no more, and the alert that waits for it is cancelled")
    func withdrawn() async throws {
        try await LiveBench.with { bench in
            try await bench.phone("ann", "phone", 1, startToken: false)
            try await bench.follow("ann")
            let store = MatchStore(pool: bench.pool)
            let alerts = alerts(bench)
            let startsAt = bench.now + .seconds(600)
            var score = try #require(try MatchSamples.scores().first { $0.phase == .scheduled })
            (score.sequence, score.startsAt) = (1, startsAt)
            #expect(try await store.accept(score, now: bench.now).result == .accepted)
            try await alerts.look()
            #expect(try await bench.count("SELECT count(*) FROM pushReady") == 1)
            (score.sequence, score.startsAt, score.status) = (2, nil, "Start postponed")
            #expect(try await store.accept(score, now: bench.now).result == .accepted)
            #expect(try await bench.pool.matchColumn("startsAt") == nil)
            try await alerts.look()
            try await bench.instance.send()
            #expect(bench.apns.calls.isEmpty)
            // A follower sees nothing of these two.
            for (sequence, start) in [(3, startsAt), (4, nil)] as [(Int64, Timestamp?)] {
                (score.sequence, score.startsAt) = (sequence, start)
                #expect(try await store.accept(score, now: bench.now).result == .unchanged)
                #expect(try await bench.count("SELECT count(startsAt) FROM activeMatches") == (start == nil ? 0 : 1))
            }
            // A state of play need not repeat it.
            for (sequence, start, phase) in [(5, startsAt, .scheduled), (6, nil, .live)] as [(Int64, Timestamp?, MatchPhase)] {
                (score.sequence, score.startsAt, score.phase) = (sequence, start, phase)
                _ = try await store.accept(score, now: bench.now)
                #expect(try await bench.count("SELECT count(startsAt) FROM activeMatches") == 1)
            }
        }
    }
}
