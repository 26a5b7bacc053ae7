import Postgres
import Providers
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Delivery

@Suite("Of several sends with one collapseId the newest wins")
struct NewestTests {
    private let token = SendingBench.token(1)

    private func send(_ sendId: String, members: String = "") -> String {
        #"{"sendId": "\#(sendId)", "uid": "ann", "title": "\#(sendId)", "collapseId": "match-7"\#(members)}"#
    }

    private func sendToToken(_ sendId: String, members: String = "") -> String {
        #"{"sendId": "\#(sendId)", "token": "\#(token)", "provider": "apns", "app": "com.example.app", "title": "t", "#
            + #""collapseId": "match-7"\#(members)}"#
    }

    @Test("a retry does not overwrite what came after it: 45/2 answered 503, 46/2 accepted, 45/2 not attempted again")
    func olderRetry() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(send("s45"))
            let provider = ScriptedProvider([token: [.apns(503, "ServiceUnavailable")]])
            let claimed = try await bench.claim()
            let push = try #require(claimed.first?.token)
            try await bench.outcomes.write([bench.outcome(of: claimed[0], to: push, .apns(503, "ServiceUnavailable"))])
            #expect(try await bench.send("s45").state == .retrying)

            try await bench.enqueue(send("s46"))
            #expect(try await bench.send("s45").state == .superseded)
            #expect(try await bench.send("s45").deliveries[0].attempts == 1)
            provider.answer(nil)
            try await bench.dispatch(ScriptedProvider())
            #expect(try await bench.send("s46").state == .sent)
            #expect(try await bench.status(of: "s45") == [.failed])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("of eight that wait only the last is attempted; the others end as superseded, without an attempt")
    func waiting() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            for number in 1...8 { try await bench.enqueue(send("s\(number)")) }
            try await bench.enqueue(#"{"sendId": "other", "uid": "ann", "title": "t", "collapseId": "match-8"}"#)
            for number in 1...7 { #expect(try await bench.send("s\(number)").state == .superseded) }
            #expect(try await bench.send("s8").state == .queued)

            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(Set(provider.calls.map(\.sendId)) == ["s8", "other"])
            #expect(provider.calls.count == 2)
            #expect(try await bench.pool.query("SELECT count(*) FROM pushFinished WHERE outcome = 'superseded'")[0].decode(Int.self) == 7)
            for number in 1...7 { #expect(try await bench.send("s\(number)").attempts.isEmpty) }
        }
    }

    @Test(
        "what a newer one has replaced ends as superseded, although it expires or loses its device first",
        arguments: ["expires", "gone"]
    )
    func endsAsShown(_ event: String) async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            for sendId in ["old", "new"] { try await bench.enqueue(send(sendId)) }
            #expect(try await bench.send("old").state == .superseded)
            switch event {
            case "expires": try await bench.pool.execute("UPDATE pushSends SET expiresAt = now() WHERE sendId = 'old'")
            default: try await bench.pool.execute("DELETE FROM devices")
            }
            #expect(try await bench.send("old").state == .superseded)
            try await bench.dispatch(ScriptedProvider())
            #expect(try await bench.send("old").state == .superseded)
            let events = try await OutcomeStream(pool: bench.pool).page(after: .start, OutcomeStream.Filter(sendId: "old"), limit: 10)
            #expect(events.outcomes.map { $0["event"] } == [.string("accepted"), .string("superseded")])
        }
    }

    @Test("a statement that stores thousands does not compare each with each")
    func plan() async throws {
        try await SendingBench.with { bench in
            // As of an audience: PostgreSQL expects one row.
            let rows: Query = "SELECT * FROM (\(EnqueueQueries.rows([]))) r WHERE uid = 'a' AND app = 'b' AND queue = 1 AND sendId = 's'"
            let statement = NewestQueries.insert(rows, mayBeLater: false, acceptedAs: nil, now: .now())
            let plan = try await bench.pool.query("EXPLAIN \(statement)").map { try $0.decode(String.self) }
            // Of the one total with the rows.
            #expect(plan.count(where: { $0.contains("Nested Loop") }) == 1, "\(plan.joined(separator: "\n"))")
        }
    }

    @Test("what is not due yet, and what waits behind a circuit, is superseded at once")
    func scheduled() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let soon = Timestamp.now() + .seconds(600)
            try await bench.enqueue(send("later", members: #", "notBefore": "\#(soon.rfc3339)""#))
            try await bench.enqueue(send("blocked"))
            #expect(try await bench.send("later").state == .superseded)
            try await bench.dispatch(ScriptedProvider([token: [.apns(403, "InvalidProviderToken")]])) { $0.delays = RetryDelays() }
            #expect(try await bench.send("blocked").state == .blocked)
            try await bench.enqueue(send("newest"))
            #expect(try await bench.send("blocked").state == .superseded)
            #expect(try await bench.count("pushScheduled") == 0)
        }
    }

    @Test("one that is in flight is waited for; when it failed, it is superseded and the newer one is due at once")
    func inFlight() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(send("old"))
            let old = try await bench.claim()
            #expect(old.map(\.newestVerdict) == [.newest])
            try await bench.enqueue(send("new"))
            let new = try await bench.claim()
            guard case .waits(let until) = new[0].newestVerdict else { return #expect(Bool(false), "\(new[0].newestVerdict)") }
            #expect(until > new[0].claimedAt + .seconds(20) && until <= new[0].claimedAt + NewestQueries.flightLimit)
            guard case .end(let waiting) = Preflight.decide(new[0], now: new[0].claimedAt) else { return #expect(Bool(false)) }
            #expect(waiting == .retry(at: until, after: nil))
            try await bench.outcomes.write(
                [QueueDeliveries.Outcome(consequence: new[0].consequence(waiting), lease: new[0].lease, at: new[0].claimedAt)]
            )
            #expect(try await bench.send("new").state == .scheduled)
            #expect(try await bench.store.promote() == 0)

            let push = try #require(old[0].token)
            try await bench.outcomes.write([bench.outcome(of: old[0], to: push, .apns(503, "ServiceUnavailable"))])
            #expect(try await bench.send("old").state == .superseded)
            #expect(try await bench.status(of: "old") == [.failed])
            #expect(try await bench.store.promote() == 1)
            #expect(try await bench.claim().map(\.newestVerdict) == [.newest])
        }
    }

    @Test("one that is to wait for a flight that has just ended is due at once", arguments: [false, true])
    func endedFlight(inOneBatch: Bool) async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(send("old"))
            let old = try await bench.claim()
            try await bench.enqueue(send("new"))
            let new = try await bench.claim()
            guard case .end(let waiting) = Preflight.decide(new[0], now: new[0].claimedAt) else { return #expect(Bool(false)) }
            let push = try #require(old[0].token)
            let ended = bench.outcome(of: old[0], to: push, .accepted("m"))
            let refused = QueueDeliveries.Outcome(consequence: new[0].consequence(waiting), lease: new[0].lease, at: new[0].claimedAt)
            for batch in inOneBatch ? [[refused, ended]] : [[ended], [refused]] { try await bench.outcomes.write(batch) }
            #expect(try await bench.send("old").state == .sent)
            // A dispatcher does not search what was due before its last look.
            #expect(try await bench.store.promote(since: new[0].claimedAt) == 1)
            #expect(try await bench.claim().map(\.newestVerdict) == [.newest])
        }
    }

    @Test("a worker that died is waited for no longer than the limit of a flight, and what is late to leave goes back to the queue")
    func lostFlight() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(send("old"))
            let old = try await bench.claim()
            try await bench.enqueue(send("new"))
            try await bench.pool.execute("UPDATE pushNewest SET inFlightUntil = clock_timestamp() WHERE inFlight IS NOT NULL")
            #expect(try await bench.claim().map(\.newestVerdict) == [.newest])

            let late = old[0].claimedAt + NewestQueries.startLimit + .seconds(1)
            guard case .end(.retry(at: late, after: nil)) = Preflight.decide(old[0], now: late) else { return #expect(Bool(false)) }
            // Its outcome ends no flight but its own.
            try await bench.outcomes.write(
                [QueueDeliveries.Outcome(consequence: old[0].consequence(.retry(at: late, after: nil)), lease: old[0].lease, at: late)]
            )
            #expect(try await bench.send("old").state == .superseded)
            #expect(try await bench.pool.query("SELECT count(*) FROM pushNewest WHERE inFlight IS NOT NULL")[0].decode(Int.self) == 1)
        }
    }

    @Test(
        "an outcome does not wait for a send to many that is being stored; what that replaces is found when it is due again",
        arguments: [false, true]
    )
    func storingMany(hasWaiting: Bool) async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(send("old"))
            let old = try await bench.claim()[0]
            let answer = bench.outcome(of: old, to: try #require(old.token), .apns(503, "ServiceUnavailable"))
            if hasWaiting {
                try await bench.enqueue(send("waiting"))
                let waiting = try await bench.claim()[0]
                guard case .end(let next) = Preflight.decide(waiting, now: waiting.claimedAt) else { return #expect(Bool(false)) }
                try await bench.outcomes.write([
                    QueueDeliveries.Outcome(consequence: waiting.consequence(next), lease: waiting.lease, at: waiting.claimedAt)
                ])
            }
            try await bench.pool.withTransaction { transaction in
                // As the newer send does, which is not committed yet.
                let locked = try await transaction.query("SELECT FROM pushNewest WHERE inFlight IS NULL FOR UPDATE")
                #expect(locked.count == 1, "the key of the device")
                #expect(try await transaction.query("SELECT FROM pushScheduled FOR UPDATE").count == (hasWaiting ? 1 : 0))
                try await bench.outcomes.write([answer])
            }
            guard !hasWaiting else { return #expect(try await bench.send("old").state == .superseded) }
            #expect(try await bench.send("old").state == .retrying)
            // It was stored before the newer one could see it as scheduled.
            try await bench.pool.execute("ALTER TABLE pushScheduled RENAME TO hidden")
            try await bench.pool.execute("CREATE TABLE pushScheduled (LIKE hidden INCLUDING ALL)")
            try await bench.enqueue(send("new"))
            try await bench.pool.execute("DROP TABLE pushScheduled")
            try await bench.pool.execute("ALTER TABLE hidden RENAME TO pushScheduled")
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = now()")
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["new"])
            #expect(try await bench.send("old").state == .superseded)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a delivery whose claim was answered long ago is not begun: a newer one may be in flight by now")
    func lateStart() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(send("s"))
            let provider = ScriptedProvider()
            let dispatcher = bench.dispatcher(provider.lookup)
            var late = try await bench.claim()[0]
            late.receivedAt -= NewestQueries.startLimit + .seconds(1)
            await dispatcher.working { await dispatcher.handle(StartedDelivery(late)) }
            #expect(provider.calls.isEmpty)
            #expect(try await bench.send("s").state == .scheduled)
            try await bench.dispatch(provider)
            #expect(try await bench.status(of: "s") == [.sent])
        }
    }

    @Test(
        "a dead letter is not sent when it is no longer known whether a newer one was; nor is what was put back before that was forgotten"
    )
    func forgottenKey() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            for sendId in ["old", "older"] {
                try await bench.enqueue(send(sendId))
                try await bench.dispatch(ScriptedProvider([token: [.apns(413, "PayloadTooLarge")]]))
            }
            try await bench.enqueue(send("new"))
            try await bench.dispatch(ScriptedProvider())
            func retry(_ sendId: String) async throws -> Int {
                let filter = DeadLetterFilter(sendId: sendId, since: Timestamp(seconds: 0), until: .now() + .seconds(60))
                return try await bench.store.retryDeadLetters(filter, lifetime: .seconds(600), recording: .test())
            }
            try await bench.pool.execute("UPDATE pushNewest SET expiresAt = now()")
            #expect(try await retry("older") == 1)
            #expect(try await bench.count("pushNewest WHERE expiresAt > now() + interval '590 seconds'") > 0, "that of the device")
            try await bench.pool.execute("UPDATE pushNewest SET expiresAt = now() - interval '8 days'")
            try await bench.store.forgetNewest()
            #expect(try await bench.count("pushNewest") == 0)
            #expect(try await retry("old") == 0)
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(provider.calls.isEmpty)
            #expect(try await bench.send("older").state == .superseded)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a lower version is superseded when it arrives, in one batch and in a later one; without a version the order is that of arrival")
    func versions() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let batch = [
                send("v5", members: #", "version": 5"#), send("v7", members: #", "version": 7"#), send("v6", members: #", "version": 6"#),
            ]
            try await bench.enqueue("[" + batch.joined(separator: ",") + "]")
            try await bench.enqueue(send("v4", members: #", "version": 4"#))
            for sendId in ["v5", "v6", "v4"] { #expect(try await bench.send(sendId).state == .superseded, "\(sendId)") }
            #expect(try await bench.send("v7").state == .queued)
            try await bench.enqueue(send("plain"))
            #expect(try await bench.send("v7").state == .superseded)
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["plain"])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("of those in one request the same is the newest as if they came one after the other, with versions and without")
    func mixedVersions() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let versions: [Int?] = [nil, 1, 2]
            var mixes: [[Int?]] = [[]]
            for _ in 0..<4 { mixes = mixes.flatMap { mix in versions.map { mix + [$0] } } }
            func sends(_ prefix: String, _ places: Range<Int>) -> String {
                var sends: [String] = []
                for (number, mix) in mixes.enumerated() {
                    for place in places {
                        let version = mix[place].map { #", "version": \#($0)"# } ?? ""
                        sends.append(
                            #"{"sendId": "\#(prefix)-\#(number)-\#(place)", "uid": "ann", "title": "t", "#
                                + #""collapseId": "\#(prefix)-\#(number)"\#(version)}"#
                        )
                    }
                }
                return "[\(sends.joined(separator: ","))]"
            }
            for place in 0..<4 { try await bench.enqueue(sends("alone", place..<(place + 1))) }
            // The first of them is stored before.
            for places in [0..<1, 1..<4] { try await bench.enqueue(sends("together", places)) }
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            let sent = provider.calls.map(\.sendId)
            let alone = sent.filter { $0.hasPrefix("alone") }.sorted()
            let together = sent.filter { $0.hasPrefix("together") }.sorted()
            #expect(alone.count == mixes.count)
            #expect(together == alone.map { $0.replacing("alone", with: "together") })
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a lower version is attempted after a higher one if one without a version came in between", arguments: [false, true])
    func lowerVersion(inOneRequest: Bool) async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let provider = ScriptedProvider()
            try await bench.enqueue(send("v7", members: #", "version": 7"#))
            try await bench.dispatch(provider)
            let next = [send("plain"), send("v3", members: #", "version": 3"#)]
            for json in inOneRequest ? ["[\(next.joined(separator: ","))]"] : next { try await bench.enqueue(json) }
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["v7", "v3"])
            #expect(try await bench.send("plain").state == .superseded)
        }
    }

    @Test("a version is compared with the one that was last attempted to the token, whether sends name it or its device")
    func versionsByToken() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let provider = ScriptedProvider()
            try await bench.enqueue(send("v10", members: #", "version": 10"#))
            try await bench.dispatch(provider)
            try await bench.enqueue(sendToToken("v9", members: #", "version": 9"#))
            #expect(try await bench.send("v9").state == .superseded)
            // The app was installed anew.
            try await bench.register("ann", "tablet", token: token)
            try await bench.enqueue(send("v8", members: #", "deviceId": "tablet", "version": 8"#))
            try await bench.dispatch(provider)
            #expect(try await bench.send("v8").state == .superseded)
            #expect(provider.calls.map(\.sendId) == ["v10"])

            try await bench.enqueue(send("plain", members: #", "deviceId": "tablet""#))
            try await bench.dispatch(provider)
            try await bench.enqueue(sendToToken("v3", members: #", "version": 3"#))
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["v10", "plain", "v3"])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a higher version that came first is attempted, also again, and a lower one to the same token is not", arguments: [1, 2])
    func higherVersionFirst(claimedAtOnce: Int) async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(send("v10", members: #", "version": 10"#))
            try await bench.enqueue(sendToToken("v9", members: #", "version": 9"#))
            var claimed = try await bench.claim(claimedAtOnce)
            if claimedAtOnce == 1 {
                #expect(try await bench.send("v9").state == .superseded)
                claimed += try await bench.claim()
            }
            #expect(claimed.map(\.sendId) == ["v10", "v9"])
            #expect(claimed.map(\.newestVerdict) == [.newest, .superseded])
            let push = try #require(claimed[0].token)
            let lower = claimed[1]
            try await bench.outcomes.write([
                bench.outcome(of: claimed[0], to: push, .apns(503, "ServiceUnavailable")),
                QueueDeliveries.Outcome(consequence: lower.consequence(.superseded), lease: lower.lease, at: lower.claimedAt),
            ])
            #expect(try await bench.send("v10").state == .retrying)
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = now()")
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["v10"])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("a higher version that was stored earlier waits for a lower one in flight, which is not attempted again")
    func higherVersionLater() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let soon = Timestamp.now() + .seconds(600)
            try await bench.enqueue(send("v10", members: #", "version": 10, "notBefore": "\#(soon.rfc3339)""#))
            try await bench.enqueue(sendToToken("v9", members: #", "version": 9"#))
            let lower = try await bench.claim()[0]
            #expect(lower.newestVerdict == .newest)
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = now()")
            #expect(try await bench.store.promote() == 1)
            let higher = try await bench.claim()[0]
            guard case .end(let waiting) = Preflight.decide(higher, now: higher.claimedAt) else { return #expect(Bool(false)) }
            try await bench.outcomes.write(
                [QueueDeliveries.Outcome(consequence: higher.consequence(waiting), lease: higher.lease, at: higher.claimedAt)]
            )
            #expect(try await bench.send("v10").state == .scheduled)
            #expect(try await bench.store.promote() == 0)

            let push = try #require(lower.token)
            try await bench.outcomes.write([bench.outcome(of: lower, to: push, .apns(503, "ServiceUnavailable"))])
            #expect(try await bench.send("v9").state == .superseded)
            #expect(try await bench.store.promote() == 1)
            #expect(try await bench.claim().map(\.newestVerdict) == [.newest])
        }
    }

    @Test("a higher version is not attempted after a lower one if one without a version came in between")
    func higherVersionReplaced() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            let provider = ScriptedProvider()
            let soon = Timestamp.now() + .seconds(600)
            try await bench.enqueue(send("v10", members: #", "version": 10, "notBefore": "\#(soon.rfc3339)""#))
            for json in [sendToToken("plain"), sendToToken("v9", members: #", "version": 9"#)] {
                try await bench.enqueue(json)
                try await bench.dispatch(provider)
            }
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = now()")
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["plain", "v9"])
            #expect(try await bench.send("v10").state == .superseded)
        }
    }

    @Test("a higher version is not attempted after a lower one to another device if one without a version to their token came in between")
    func higherVersionOfOtherDevice() async throws {
        try await SendingBench.with { bench in
            let provider = ScriptedProvider()
            let soon = Timestamp.now() + .seconds(600)
            try await bench.register("ann", "tablet", token: token)
            try await bench.enqueue(send("v10", members: #", "version": 10, "notBefore": "\#(soon.rfc3339)""#))
            try await bench.enqueue(sendToToken("plain"))
            try await bench.dispatch(provider)
            // The app was installed anew, and later from a backup.
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(send("v9", members: #", "version": 9"#))
            try await bench.dispatch(provider)
            try await bench.register("ann", "tablet", token: token)
            try await bench.pool.execute("UPDATE pushScheduled SET runAt = now()")
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["plain", "v9"])
            #expect(try await bench.send("v10").state == .superseded)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("of those in one request the last is the newest, whatever their ids")
    func oneRequest() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue("[\(send("c")),\(send("a")),\(send("b"))]")
            for sendId in ["c", "a"] { #expect(try await bench.send(sendId).state == .superseded, "\(sendId)") }
            #expect(try await bench.send("b").state == .queued)
        }
    }

    @Test("a send to a token and one to the device that has it replace each other when they are attempted")
    func deviceAndToken() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(send("device"))
            try await bench.enqueue(
                #"{"sendId": "token", "token": "\#(token)", "provider": "apns", "app": "com.example.app", "title": "t", "#
                    + #""collapseId": "match-7"}"#
            )
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["token"])
            #expect(try await bench.send("device").state == .superseded)
        }
    }

    @Test("while one to a token is in flight, one to its device waits, and is due when the other has ended")
    func deviceBehindToken() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(
                #"{"sendId": "token", "token": "\#(token)", "provider": "apns", "app": "com.example.app", "title": "t", "#
                    + #""collapseId": "match-7"}"#
            )
            let first = try await bench.claim()
            try await bench.enqueue(send("device"))
            let second = try await bench.claim()
            guard case .end(let waiting) = Preflight.decide(second[0], now: second[0].claimedAt) else { return #expect(Bool(false)) }
            try await bench.outcomes.write(
                [QueueDeliveries.Outcome(consequence: second[0].consequence(waiting), lease: second[0].lease, at: second[0].claimedAt)]
            )
            #expect(try await bench.store.promote() == 0)
            let push = try #require(first[0].token)
            try await bench.outcomes.write([bench.outcome(of: first[0], to: push, .apns(503, "ServiceUnavailable"))])
            #expect(try await bench.send("token").state == .superseded)
            #expect(try await bench.store.promote() == 1)
            #expect(try await bench.claim().map(\.newestVerdict) == [.newest])
        }
    }

    @Test("an audience's devices each keep the newest")
    func audience() async throws {
        try await SendingBench.with { bench in
            for number in 1...20 { try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            let uids = (1...20).map { #""user-\#($0)""# }.joined(separator: ",")
            for sendId in ["first", "second"] {
                let receipts = try await bench.enqueue(
                    #"{"sendId": "\#(sendId)", "uids": [\#(uids)], "app": "com.example.app", "title": "t", "collapseId": "match-7"}"#
                )
                guard case .accepted(deliveries: 20, _) = receipts[0] else { return #expect(Bool(false), "\(receipts)") }
            }
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(provider.calls.count == 20)
            #expect(Set(provider.calls.map(\.sendId)) == ["second"])
            #expect(try await bench.send("first").state == .superseded)
        }
    }

    @Test("score updates through 503s, lost answers, a throttle and two instances: no token gets an older one after a newer one")
    func scores() async throws {
        try await SendingBench.with { bench in
            let tokens = 200
            let updates = 50
            let provider = ScoreProvider()
            let lookup: ProviderLookup = { _, _, _ in provider }
            try await bench.throttles.set(
                [
                    SendThrottle(
                        provider: .apns,
                        app: "a",
                        perMinute: 30_000,
                        reason: "test",
                        author: "test",
                        createdAt: .now(),
                        expiresAt: .now() + .seconds(3600)
                    )
                ],
                recording: .test()
            )
            for update in 1...updates {
                let sends = (0..<tokens).map {
                    #"{"sendId": "u\#(update)-\#($0)", "token": "\#(SendingBench.token($0))", "provider": "apns", "app": "a", "#
                        + #""title": "\#(update)", "collapseId": "match"}"#
                }
                async let first: Void = bench.dispatch(lookup) { $0.worker = "one" }
                async let second: Void = bench.dispatch(lookup) { $0.worker = "two" }
                try await bench.enqueue("[" + sends.joined(separator: ",") + "]")
                _ = try await (first, second)
            }
            while try await bench.count("pushScheduled") + bench.count("pushReady") > 0 {
                try await bench.pool.execute("UPDATE pushScheduled SET runAt = clock_timestamp()")
                try await bench.dispatch(lookup)
            }
            #expect(provider.overtaken == [])
            #expect(provider.accepted.count == tokens)
            #expect(Set(provider.accepted.values) == [updates])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
            let superseded = try await bench.pool.query("SELECT count(*) FROM pushFinished WHERE outcome = 'superseded'")[0].decode(
                Int.self
            )
            #expect(superseded > 0)
            #expect(provider.calls < tokens * updates * 2)
        }
    }
}
