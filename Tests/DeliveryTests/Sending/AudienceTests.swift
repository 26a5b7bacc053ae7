import HTTPServer
import Postgres
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Delivery

@Suite("Sends to many")
struct AudienceTests {
    private func register(_ bench: SendingBench, _ numbers: ClosedRange<Int>) async throws {
        for number in numbers { try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number)) }
    }

    private func json(_ uids: [String]) -> String { "[" + uids.map { "\"\($0)\"" }.joined(separator: ",") + "]" }

    @Test("a stored audience is made, added to, taken from, replaced and deleted")
    func audience() async throws {
        try await SendingBench.with { bench in
            let store = AudienceStore(pool: bench.pool)
            let missing = try await store.change(.remove, "fans", uids: ["a"], recording: .test())
            #expect(missing == nil)
            #expect(try await store.change(.replace, "fans", uids: ["a", "b", "a"], recording: .test())?.members == 2)
            #expect(try await store.change(.add, "fans", uids: ["b", "c"], recording: .test("other"))?.members == 3)
            #expect(try await store.change(.remove, "fans", uids: ["a", "z"], recording: .test())?.members == 2)
            #expect(try await store.change(.replace, "fans", uids: ["x"], recording: .test())?.members == 1)
            #expect(try await store.list().map(\.id) == ["fans"])
            #expect(try await store.delete("fans", recording: .test()))
            #expect(try await store.delete("fans", recording: .test()) == false)
            #expect(try await bench.count("audienceMembers") == 0)
        }
    }

    @Test("a send to an audience goes once to every device its members have then, and to nobody else")
    func sendToAudience() async throws {
        try await SendingBench.with { bench in
            try await register(bench, 1...5)
            try await bench.register("u1", "tablet", token: SendingBench.token(100))
            _ = try await bench.devices.unregister(userId: "u4", deviceId: "phone-4", requestId: "out", now: .now())
            try await bench.pool.execute("UPDATE devices SET tokenState = 'inactive' WHERE userId = 'u5'")
            let store = AudienceStore(pool: bench.pool)
            _ = try await store.change(.replace, "fans", uids: ["u1", "u2", "u4", "u5", "nobody"], recording: .test())
            let body = #"{"sendId": "s1", "audience": "fans", "title": "Goal"}"#
            let receipts = try await bench.enqueue(body)
            guard case .accepted(deliveries: 3, _) = receipts[0] else { return #expect(Bool(false), "\(receipts)") }
            // Who joins later is not reached by a send that was made before; and the same request again changes nothing.
            _ = try await store.change(.add, "fans", uids: ["u3"], recording: .test())
            guard case .duplicate(deliveries: 3, _) = try await bench.enqueue(body)[0] else { return #expect(Bool(false)) }
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(Set(sender.calls.map(\.deviceId)) == ["phone-1", "tablet", "phone-2"])
            #expect(try await bench.send("s1").counts == [.sent: 3])
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("lists of uids, deviceIds and tokens, each named twice: one delivery each")
    func lists() async throws {
        try await SendingBench.with { bench in
            try await register(bench, 1...3)
            try await bench.enqueue(
                """
                [{"sendId": "s1", "uids": ["u1", "u2", "u1", "nobody"], "title": "t"},
                 {"sendId": "s2", "deviceIds": ["phone-3", "phone-3", "none"], "title": "t"},
                 {"sendId": "s3", "tokens": ["\(SendingBench.token(1))", "\(SendingBench.token(50))", "\(SendingBench.token(1))"],
                  "provider": "apns", "app": "com.example.app", "title": "t"}]
                """
            )
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(try await bench.send("s1").counts == [.sent: 2])
            #expect(try await bench.send("s2").counts == [.sent: 1])
            #expect(try await bench.send("s3").counts == [.sent: 2])
            #expect(Set(try await bench.send("s3").attempts.map(\.uid)) == ["u1", "anonymous"])
        }
    }

    @Test("a send to more people than can be stored in time is undone in the database, too, when its statement's time is over")
    func tooLarge() async throws {
        try await SendingBench.with { bench in
            try await register(bench, 1...2)
            try await bench.pool.execute(
                """
                CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(30); RETURN NEW; END'
                """
            )
            try await bench.pool.execute("CREATE TRIGGER slow BEFORE INSERT ON pushDeliveries FOR EACH ROW EXECUTE FUNCTION slow()")
            var configuration = bench.pool.configuration
            configuration.statementTimeout = .milliseconds(300)
            let pool = PostgresPool(configuration: configuration, logger: .silent)
            defer { pool.close() }
            let store = SendStore(pool: pool, cipher: bench.cipher, record: AttemptRecording.recorder(slot: 9, logger: .silent))
            let post = try bench.post(#"{"sendId": "s1", "uids": ["u1", "u2"], "title": "t"}"#)
            let error = await #expect(throws: PostgresError.self) {
                try await store.enqueue(post.requests, requestId: "r", author: "test", now: .now(), check: { _, _ in nil })
            }
            #expect(error?.code == .queryCancelled, "\(String(describing: error))")
            #expect(try await bench.count("pushSends") == 0)
        }
    }

    @Test("a scheduled send to many waits until it is due")
    func scheduled() async throws {
        try await SendingBench.with { bench in
            try await register(bench, 1...3)
            let later = (Timestamp.now() + .seconds(3600)).rfc3339
            try await bench.enqueue(#"{"sendId": "s1", "uids": ["u1", "u2", "u3"], "title": "t", "notBefore": "\#(later)"}"#)
            let sender = ScriptedProvider()
            try await bench.dispatch(sender)
            #expect(sender.calls.isEmpty)
            #expect(try await bench.send("s1").counts == [.scheduled: 3])
            #expect(try await bench.store.cancel("s1", author: "test") == 3)
        }
    }

    @Test(
        "what cannot be: nobody to reach, several kinds of targets, too many, a wrong element",
        arguments: [
            (#"{"audience": "none", "title": "t"}"#, "unknown_audience", "/audience"),
            (#"{"uids": ["x"], "title": "t"}"#, "unknown_uid", "/uids"),
            (#"{"deviceIds": ["x"], "title": "t"}"#, "unknown_device", "/deviceIds"),
        ]
    )
    func refusals(body: String, code: String, pointer: String) async throws {
        try await SendingBench.with { bench in
            guard case .refused(let problem) = try await bench.enqueue(body)[0] else { return #expect(Bool(false)) }
            #expect(problem.code == code)
            #expect(problem.pointer == pointer)
            #expect(try await bench.count("pushSends") == 0)
        }
    }

    @Test(
        "what is refused before the database is asked",
        arguments: [
            (#"{"uids": ["a"], "uid": "b"}"#, ""), (#"{"uids": ["a"], "audience": "b"}"#, ""), (#"{"uids": []}"#, "/uids"),
            (#"{"uids": ["a", 7]}"#, "/uids/1"), (#"{"tokens": ["zz"], "provider": "apns", "app": "a"}"#, "/tokens/0"),
        ]
    )
    func unreadable(body: String, pointer: String) throws {
        let json = try JSONParser.parse(Array(body.utf8))
        let problem = #expect(throws: Problem.self) { _ = try SendRequest(json, now: .now()) }
        #expect(problem?.pointer == pointer)
    }

    @Test("a send to thousands is shown by its counts, and sent to the last")
    func thousands() async throws {
        try await SendingBench.with { bench in
            let count = 3000
            try await bench.register("template", "t", token: SendingBench.token(1))
            try await bench.pool.execute(
                """
                INSERT INTO devices (userId, deviceId, platform, provider, environment, app, pushToken, pushTokenHash, tokenState,
                    tokenStateSince, registrationVersion, registeredAt, tokenRegisteredAt, lastSeenAt, expiresAt)
                SELECT 'm' || n, 'd', platform, provider, environment, app, pushToken,
                    'sha256:' || encode(sha256(convert_to(n::text, 'UTF8')), 'hex'), 'inactive', now(), n, now(), now(), now(), expiresAt
                FROM devices, generate_series(1, \(count)) n WHERE userId = 'template'
                """
            )
            try await bench.pool.execute("UPDATE devices SET tokenState = 'active' WHERE userId <> 'template'")
            _ = try await AudienceStore(pool: bench.pool).change(.replace, "all", uids: (1...count).map { "m\($0)" }, recording: .test())
            let receipts = try await bench.enqueue(#"{"sendId": "s1", "audience": "all", "title": "Goal"}"#)
            guard case .accepted(deliveries: count, _) = receipts[0] else { return #expect(Bool(false), "\(receipts)") }
            let waiting = try await bench.send("s1")
            #expect(waiting.counts == [.queued: count])
            #expect(waiting.deliveries.count == 1000)
            #expect(waiting.state == .queued)
        }
    }
}
