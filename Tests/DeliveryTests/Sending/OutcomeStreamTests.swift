import Foundation
import HTTPServer
import Hummingbird
import HummingbirdTesting
import Postgres
import Providers
import PushContract
import ServiceKit
import Synchronization
import TestDatabase
import Testing

@testable import Delivery

extension OutcomeStream {
    /// Everything behind the cursor, read in pages of this size.
    fileprivate func all(
        after cursor: OutcomeCursor = .start,
        _ filter: Filter = Filter(),
        pageSize: Int = 1000
    ) async throws -> [JSONValue] {
        var outcomes: [JSONValue] = []
        var cursor = cursor
        while true {
            let page = try await page(after: cursor, filter, limit: pageSize)
            outcomes += page.outcomes
            guard page.next != cursor else { return outcomes }
            cursor = page.next
        }
    }
}

extension JSONValue {
    fileprivate func text(_ member: String) -> String { self[member]?.string ?? "-" }
}

/// A second passes each time that it is read; nobody sleeps by it.
private final class SearchClock: Clock, Sendable {
    private let moment = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant {
        moment.withLock { moment in
            moment += .seconds(1)
            return moment
        }
    }

    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {}
}

@Suite("The stream of outcomes")
struct OutcomeStreamTests {
    private let token = SendingBench.token(1)

    @Test("a send's outcomes are in order: accepted, a failed attempt, sent; with its user, its attempts and its cursor")
    func oneSend() async throws {
        try await SendingBench.with { bench in
            let stream = OutcomeStream(pool: bench.pool)
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
            try await bench.dispatch(ScriptedProvider([token: [.apns(503, "ServiceUnavailable")]]))
            let outcomes = try await stream.all(pageSize: 1)
            #expect(outcomes.map { $0.text("event") } == ["accepted", "attemptFailed", "sent"])
            #expect(outcomes.map { $0.text("sendId") } == ["s1", "s1", "s1"])
            #expect(outcomes.map { $0.text("author") } == ["test", "test", "test"])
            let failed = outcomes[1]
            #expect(failed.text("uid") == "ann" && failed.text("deviceId") == "phone" && failed.text("app") == "com.example.app")
            #expect(failed.text("reasonCode") == "provider_5xx" && failed.text("providerErrorCode") == "ServiceUnavailable")
            let attempts = try await bench.send("s1").attempts
            #expect(Set(outcomes.dropFirst().map { $0.text("attemptId") }) == Set(attempts.map(\.attemptId)))
            #expect(Timestamp(rfc3339: failed.text("nextAttemptAt")) != nil && Timestamp(rfc3339: failed.text("at")) != nil)
            #expect(outcomes[2].text("providerMessageId") != "-" && outcomes[2]["deliveryId"] == nil)
            #expect(Set(outcomes.map { $0.text("cursor") }).count == 3)
            let second = try #require(OutcomeCursor(outcomes[1].text("cursor")))
            #expect(try await stream.all(after: second) == [outcomes[2]])
            #expect(try await stream.end() == OutcomeCursor(outcomes[2].text("cursor")))
        }
    }

    @Test("each end is an outcome: superseded, cancelled, unreachable, failed with its token, expired, retried")
    func ends() async throws {
        try await SendingBench.with { bench in
            let stream = OutcomeStream(pool: bench.pool)
            for number in 1...6 { try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            let later = (Timestamp.now() + .seconds(600)).rfc3339
            try await bench.enqueue(#"{"sendId": "old", "uid": "user-1", "title": "t", "collapseId": "c", "notBefore": "\#(later)"}"#)
            try await bench.enqueue(#"{"sendId": "old2", "uid": "user-1", "title": "t", "collapseId": "c"}"#)
            try await bench.enqueue(#"{"sendId": "new", "uid": "user-1", "title": "t", "collapseId": "c"}"#)
            try await bench.enqueue(#"{"sendId": "cancelled", "uid": "user-2", "title": "t", "notBefore": "\#(later)"}"#)
            _ = try await bench.store.cancel("cancelled", author: "test")
            try await bench.enqueue(#"{"sendId": "unreachable", "uid": "user-3", "title": "t"}"#)
            try await bench.pool.execute("UPDATE devices SET tokenState = 'inactive', tokenStateSince = now() WHERE userId = 'user-3'")
            try await bench.enqueue(#"{"sendId": "gone", "uid": "user-4", "title": "t"}"#)
            try await bench.enqueue(#"{"sendId": "expired", "uid": "user-5", "title": "t"}"#)
            try await bench.pool.execute("UPDATE pushSends SET expiresAt = now() WHERE sendId = 'expired'")
            try await bench.dispatch(ScriptedProvider([SendingBench.token(4): [.apns(410, "Unregistered", goneAt: .now() + .seconds(60))]]))
            _ = try await bench.store.retryDeadLetters(DeadLetterFilter.matching("expired"), lifetime: .seconds(60), recording: .test())

            let all = try await stream.all()
            #expect(all.filter { $0.text("event") == "unreachable" }.map { $0.text("providerErrorCode") } == ["TokenInactive"])
            let told = Dictionary(grouping: all, by: { $0.text("sendId") })
                .mapValues { $0.map { $0.text("event") }.filter { $0 != "accepted" } }
            #expect(told["old"] == ["superseded"])
            #expect(told["old2"] == ["superseded"])
            #expect(told["new"] == ["sent"])
            #expect(told["cancelled"] == ["cancelled"])
            #expect(told["unreachable"] == ["unreachable"])
            #expect(told["gone"] == ["failed", "tokenDeactivated"])
            #expect(told["expired"] == ["expired", "retried"])
        }
    }

    /// An audience of two people is stored in portions here.
    @Test(
        "a send that is superseded at once was accepted first",
        arguments: [#""uid": "ann""#, #""uids": ["ann", "bob"]"#, #""audience": "fans""#]
    )
    func supersededAtOnce(target: String) async throws {
        try await SendingBench.with(fanOutSizes: FanOutSizes(devicesAtOnce: 1, people: 1)) { bench in
            for (number, person) in ["ann", "bob"].enumerated() {
                try await bench.register(person, "phone-\(number)", token: SendingBench.token(number))
            }
            _ = try await AudienceStore(pool: bench.pool).change(.replace, "fans", uids: ["ann", "bob"], recording: .test())
            let fanOuts = FanOutService(store: bench.store, wake: WakeSignal(), logger: .silent)
            for (sendId, version) in [("five", 5), ("three", 3)] {
                try await bench.enqueue(
                    #"{"sendId": "\#(sendId)", \#(target), "title": "t", "collapseId": "c", "version": \#(version)}"#
                )
                try await fanOuts.storeAll()
            }
            let events = try await OutcomeStream(pool: bench.pool).all().filter { $0.text("sendId") == "three" }.map { $0.text("event") }
            #expect(events.first == "accepted")
            #expect(events.count > 1)
            #expect(events.dropFirst().allSatisfy { $0 == "superseded" })
        }
    }

    @Test("a dead worker's attempt has an unknown outcome, and an erased user's outcomes are gone")
    func lostAndErased() async throws {
        try await SendingBench.with { bench in
            let stream = OutcomeStream(pool: bench.pool)
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "t"}"#)
            _ = try await bench.claim(lease: .zero)
            #expect(try await bench.store.reap() == 1)
            let outcomes = try await stream.all()
            #expect(outcomes.map { $0.text("event") } == ["accepted", "attemptFailed"])
            #expect(outcomes[1].text("providerErrorCode") == Attempt.unknownOutcomeCode)
            try await bench.pool.performTransaction { try SendErasure.erase("ann", on: $0) }
            #expect(try await stream.all() == [])
        }
    }

    @Test("what was written after an outcome had been committed comes after it, however long that was not committed", arguments: 1...12)
    func lateCommit(turns: Int) async throws {
        try await SendingBench.with { bench in
            let stream = OutcomeStream(pool: bench.pool)
            func insert(_ sendId: String, _ event: String) -> Query {
                """
                INSERT INTO pushOutcomes (outcomes, count)
                VALUES (jsonb_build_array(jsonb_build_object('event', \(event)::text, 'sendId', \(sendId)::text)), 1)
                """
            }
            func store(_ sendId: String) async throws {
                try await bench.pool.execute(
                    """
                    INSERT INTO pushSends (sendId, contentHash, requestId, author, content, class, policy, createdAt, expiresAt)
                    VALUES (\(sendId), '', 'r', 'test', '{}', 'normal', 'at_least_once', now(), now())
                    """
                )
            }
            try await store("late")
            try await store("other")
            try await bench.pool.withConnection { connection in
                try await connection.executeScript("BEGIN")
                try await connection.execute(insert("late", "accepted"))
                for _ in 1...turns {
                    try await bench.pool.execute(insert("other", "sent"))
                    #expect(try await stream.all().count { $0.text("sendId") == "late" } == 0)
                }
                try await connection.executeScript("COMMIT")
            }
            try await bench.pool.execute(insert("late", "sent"))
            let events = try await stream.all().filter { $0.text("sendId") == "late" }.map { $0.text("event") }
            #expect(events == ["accepted", "sent"])
        }
    }

    @Test("an idle transaction delays its own outcomes and no others; nothing is missed or repeated when it commits")
    func idleTransaction() async throws {
        try await SendingBench.with { bench in
            let stream = OutcomeStream(pool: bench.pool)
            func record(_ sendId: String) async throws {
                try await bench.pool.execute(
                    """
                    WITH s AS (
                        INSERT INTO pushSends (sendId, contentHash, requestId, author, content, class, policy, createdAt, expiresAt)
                        VALUES (\(sendId), '', 'r', 'test', '{}', 'normal', 'at_least_once', now(), now())
                    )
                    INSERT INTO pushOutcomes (outcomes, count)
                    VALUES (jsonb_build_array(jsonb_build_object('event', 'accepted', 'sendId', \(sendId)::text)), 1)
                    """
                )
            }
            let (isIdle, idle) = AsyncStream<Void>.makeStream()
            let (mayCommit, commit) = AsyncStream<Void>.makeStream()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await bench.pool.withConnection { connection in
                        try await connection.executeScript("BEGIN; INSERT INTO pushOutcomes (outcomes, count) VALUES ('[]', 0), ('[]', 0)")
                        idle.finish()
                        for await _ in mayCommit {}
                        try await connection.executeScript("COMMIT")
                    }
                }
                for await _ in isIdle {}
                for number in 1...5 { try await record("s\(number)") }
                let before = try await stream.all()
                #expect(before.map { $0.text("sendId") } == ["s1", "s2", "s3", "s4", "s5"])
                commit.finish()
                try await group.waitForAll()
                try await record("s6")
                let last = try #require(OutcomeCursor(before[4].text("cursor")))
                #expect(try await stream.all(after: last).map { $0.text("sendId") } == ["s6"])
                #expect(try await bench.pool.query("SELECT count(*) FROM pushOutcomes WHERE number IS NULL")[0].decode(Int.self) == 0)
            }
        }
    }

    @Test("a search begins behind what an earlier one cannot have missed; a transaction that may commit something before it keeps it there")
    func search() {
        let search = OutcomeSearch()
        func look(last: Int64, writers: Set<String> = []) -> Int64 {
            let turn = search.begin()
            search.note(last: last, writers: writers, in: turn)
            search.end(turn)
            return turn.start
        }
        #expect(look(last: 100) == 0)
        #expect(look(last: 110) == 1)
        #expect(look(last: 120, writers: ["a"]) == 101)
        #expect(look(last: 130, writers: ["a", "b"]) == 111)
        // What "a" has not committed when 120 was the last may be before it.
        for _ in 0..<3 { #expect(look(last: 140, writers: ["a", "b"]) == 111) }
        #expect(look(last: 150, writers: ["b"]) == 111)
        #expect(look(last: 160, writers: ["b"]) == 111)
        for _ in 0..<2 { #expect(look(last: 170) == 121) }
        // An earlier state of the database, as after a restore.
        #expect(look(last: 50) == 171)
        #expect(look(last: 60) == 0)
    }

    @Test("what a search has read does not count if another one has looked since it began")
    func outdatedSearch() {
        let search = OutcomeSearch()
        let slow = search.begin()
        search.note(last: 100, writers: ["a"], in: search.begin())
        search.note(last: 90, writers: [], in: slow)
        search.end(slow)
        let turn = search.begin()
        search.end(turn)
        #expect(search.begin().start <= 1)
    }

    @Test("a transaction with many events writes several rows; a page reads as many as it needs, and a search a thousand outcomes")
    func manyEvents() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "t"}"#)
            try await bench.pool.performTransaction { connection in
                try SendEvents.recordAccepted((1...2600).map { (sendId: "s1", deliveries: $0) }, on: connection)
            }
            let stream = OutcomeStream(pool: bench.pool)
            let searched = try await stream.page(after: .start, .init(sendId: "none"), limit: 100).next
            #expect(searched.number == 5 && searched.index == SendEvents.rowLimit, "the first row has one outcome, the others 250")
            var deliveries: [JSONValue?] = []
            var cursor = OutcomeCursor.start
            while true {
                let page = try await stream.page(after: cursor, limit: 100)
                guard page.next != cursor else { break }
                #expect(page.outcomes.count == 100 || deliveries.count + page.outcomes.count == 2601)
                deliveries += page.outcomes.map { $0["deliveries"] }
                cursor = page.next
            }
            #expect(deliveries.dropFirst() == (1...2600).map { JSONValue.integer(Int64($0)) }[...])
            #expect(try await bench.pool.query("SELECT max(count) FROM pushOutcomes")[0].decode(Int32.self) == 250)
        }
    }

    @Test("outcomes that are being removed are not numbered, and those after them go on being numbered")
    func numberedWhileRemoved() async throws {
        try await SendingBench.with { bench in
            let stream = OutcomeStream(pool: bench.pool)
            func insert(_ count: Int) async throws {
                try await bench.pool.execute(
                    "INSERT INTO pushOutcomes (outcomes, count) SELECT '[{}]', 1 FROM generate_series(1, \(count))"
                )
            }
            try await insert(20)
            try await bench.pool.withConnection { connection in
                try await connection.executeScript(
                    "BEGIN; DELETE FROM pushOutcomes WHERE outcomeId IN (SELECT outcomeId FROM pushOutcomes ORDER BY outcomeId LIMIT 3)"
                )
                #expect(try await stream.end() == OutcomeCursor(number: 17, index: 1))
                try await connection.executeScript("COMMIT")
            }
            try await insert(2)
            #expect(try await stream.end() == OutcomeCursor(number: 19, index: 1))
            #expect(try await bench.pool.query("SELECT count(DISTINCT number) FROM pushOutcomes")[0].decode(Int.self) == 19)
        }
    }

    @Test("a cursor ahead of the outcomes is refused; none that was given is, also when its row or every row was removed")
    func cursorAhead() async throws {
        try await SendingBench.with { bench in
            let stream = OutcomeStream(pool: bench.pool)
            func expectAhead(_ cursors: [OutcomeCursor]) async {
                for cursor in cursors {
                    await #expect(throws: OutcomeStream.CursorAhead.self, "\(cursor.text)") {
                        try await stream.page(after: cursor, limit: 10)
                    }
                }
            }
            #expect(try await stream.page(after: .start, limit: 10).next == .start)
            await expectAhead([OutcomeCursor(number: 1, index: 0)])
            try await bench.pool.execute("INSERT INTO pushOutcomes (outcomes, count) VALUES ('[{}, {}]', 2), ('[{}, {}]', 2)")
            let end = OutcomeCursor(number: 2, index: 2)
            // Another instance numbers them.
            #expect(try await OutcomeStream(pool: bench.pool).end() == end)
            for cursor in [OutcomeCursor.start, OutcomeCursor(number: 1, index: 2), OutcomeCursor(number: 2, index: 1), end] {
                #expect(try await stream.page(after: cursor, limit: 10).next == end)
            }
            let ahead = [OutcomeCursor(number: 2, index: 3), OutcomeCursor(number: 3, index: 0), OutcomeCursor(number: .max, index: .max)]
            await expectAhead(ahead)
            try await bench.pool.execute("DELETE FROM pushOutcomes")
            #expect(try await stream.end() == .start)
            #expect(try await stream.page(after: end, limit: 10).next == end)
            await expectAhead(Array(ahead.dropFirst()))
        }
    }

    @Test("a search without a match ends after two seconds, or after `wait`, with an empty page that continues behind what was searched")
    func longSearch() async throws {
        try await SendingBench.with { bench in
            try await bench.pool.execute(
                """
                INSERT INTO pushOutcomes (outcomes, count) SELECT '[{"event": "accepted", "sendId": "none"}]', 1 FROM generate_series(1, 10000)
                """
            )
            try await bench.register("ann", "phone", token: token)
            try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "t"}"#)
            let router = HTTPRouter(authentication: AuthenticationMiddleware(NamedCallers()))
            OutcomeRoutes(stream: OutcomeStream(pool: bench.pool), clock: SearchClock()).add(to: router)
            try await Application(router: router).test(.router) { client in
                func page(after cursor: OutcomeCursor, wait: Int = 0) async throws -> (next: OutcomeCursor, outcomes: JSONValue?) {
                    let path = "/sends/outcomes?sendId=s1&after=\(cursor.text)&wait=\(wait)"
                    let body = try JSONParser.parse(Array(buffer: try await client.call(path, .get, as: "reader").body))
                    return (try #require(OutcomeCursor(body.text("next"))), body["outcomes"])
                }
                var (next, outcomes) = try await page(after: .start)
                #expect(outcomes == .array([]) && next > .start && next.number < 10_000)
                let longer = try await page(after: .start, wait: 4)
                #expect(longer.outcomes == .array([]) && longer.next > next)
                var requests = 1
                while outcomes == .array([]), requests < 10 {
                    (next, outcomes) = try await page(after: next)
                    requests += 1
                }
                #expect(outcomes != .array([]))
            }
        }
    }

    @Test("two readers during two dispatchers: each reads every outcome once and in the same order, and the ends equal the tables")
    func concurrent() async throws {
        try await SendingBench.with { bench in
            let count = 100
            for number in 0..<20 { try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            let provider = ScriptedProvider()
            provider.answer { _, token in Int.random(in: 0..<5) == 0 ? .apns(503, "ServiceUnavailable") : nil }
            let stream = OutcomeStream(pool: bench.pool)
            @Sendable func read(_ pageSize: Int) async throws -> [JSONValue] {
                var outcomes: [JSONValue] = []
                var cursor = OutcomeCursor.start
                while outcomes.count(where: { $0.text("event") == "sent" }) < count {
                    let page = try await stream.page(after: cursor, limit: pageSize)
                    outcomes += page.outcomes
                    cursor = page.next
                    if page.outcomes.isEmpty { await Task.yield() }
                }
                return outcomes
            }
            async let first = read(7)
            async let second = read(1000)
            async let sending: Void = {
                for send in 0..<count { try await bench.enqueue(#"{"sendId": "s\#(send)", "uid": "user-\#(send % 20)", "title": "t"}"#) }
            }()
            try await sending
            async let one: Void = bench.dispatch(provider) { $0.worker = "one" }
            async let two: Void = bench.dispatch(provider) { $0.worker = "two" }
            _ = try await (one, two)
            let (slow, fast) = try await (first, second)
            #expect(slow == fast)
            #expect(Set(slow.map { $0.text("cursor") }).count == slow.count)
            #expect(Set(slow.filter { $0.text("event") == "sent" }.map { $0.text("sendId") }).count == count)
            #expect(slow.count { $0.text("event") == "accepted" } == count)
            let failed = try await bench.pool.query("SELECT count(*) FROM notificationDeliveryAttempts WHERE status = 'failed'")[0].decode(
                Int.self
            )
            #expect(slow.count { $0.text("event") == "attemptFailed" } == failed && failed > 0)
        }
    }

    @Test("GET /sends/outcomes: pages, lines, filters, now, waiting, and what is wrong with a parameter")
    func route() async throws {
        try await SendingBench.with { bench in
            let router = HTTPRouter(authentication: AuthenticationMiddleware(NamedCallers()))
            OutcomeRoutes(stream: OutcomeStream(pool: bench.pool)).add(to: router)
            try await bench.register("ann", "phone", token: token)
            try await Application(router: router).test(.router) { client in
                for number in 1...3 { try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "ann", "title": "t"}"#) }
                let page = try await client.call("/sends/outcomes?limit=2", .get, as: "reader")
                let body = try JSONParser.parse(Array(buffer: page.body))
                let next = body.text("next")
                #expect(page.headers[.init("X-Next-Cursor")!] == next)
                guard case .array(let outcomes)? = body["outcomes"] else { return #expect(Bool(false), "\(body.text)") }
                #expect(outcomes.map { $0.text("sendId") } == ["s1", "s2"])
                let lines = try await client.execute(
                    uri: "/sends/outcomes?after=\(next)",
                    method: .get,
                    headers: [.authorization: "reader", .accept: "application/x-ndjson"]
                )
                #expect(String(buffer: lines.body).split(separator: "\n").count == 1)
                let filtered = try await client.call("/sends/outcomes?sendId=s3&author=test", .get, as: "reader")
                #expect(String(buffer: filtered.body).contains("s3") && !String(buffer: filtered.body).contains("s1"))
                let other = try await client.call("/sends/outcomes?author=nobody", .get, as: "reader")
                #expect(try JSONParser.parse(Array(buffer: other.body))["outcomes"] == .array([]))

                let now = try JSONParser.parse(Array(buffer: try await client.call("/sends/outcomes?after=now", .get, as: "reader").body))
                #expect(now["outcomes"] == .array([]))
                async let waiting = client.call("/sends/outcomes?wait=30&after=\(now.text("next"))", .get, as: "reader")
                try await bench.enqueue(#"{"sendId": "s4", "uid": "ann", "title": "t"}"#)
                #expect(String(buffer: try await waiting.body).contains("s4"))
                async let fromNow = client.call("/sends/outcomes?wait=30&after=now", .get, as: "reader")
                // Until one of them comes after the request has begun.
                let feeder = Task {
                    var number = 5
                    while !Task.isCancelled {
                        try await bench.enqueue(#"{"sendId": "s\#(number)", "uid": "ann", "title": "t"}"#)
                        number += 1
                    }
                }
                let first = try JSONParser.parse(Array(buffer: try await fromNow.body))
                feeder.cancel()
                #expect(first["outcomes"] != .array([]))

                for (query, word) in [("after=x", "after"), ("limit=0", "limit"), ("wait=31", "wait"), ("sendid=s1", "sendid")] {
                    let refused = try await client.call("/sends/outcomes?\(query)", .get, as: "reader")
                    #expect(refused.status == .badRequest && String(buffer: refused.body).contains("`\(word)`"), "\(query)")
                }
                let ahead = try await client.call("/sends/outcomes?after=1000-1", .get, as: "reader")
                #expect(ahead.status == .badRequest && String(buffer: ahead.body).contains("urn:pushwatch:problem:cursor_ahead"))
                #expect(try await client.call("/sends/outcomes", .get, as: nil).status == .unauthorized)
            }
        }
    }
}

extension DeadLetterFilter {
    fileprivate static func matching(_ sendId: String) throws -> DeadLetterFilter {
        try DeadLetterFilter(query: ["sendId": Substring(sendId)], now: .now())
    }
}
