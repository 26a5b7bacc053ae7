import Foundation
import HTTPServer
import Postgres
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Delivery

@Suite("Targets that cannot be sent to do not spoil a send to many")
struct SkippedTargetTests {
    /// As without a credential of this app.
    private static let check: SendStore.PayloadCheck = { (request, kind) throws(Problem) in
        guard kind.app == "retired" else { return nil }
        throw .invalid("no credentials", code: "provider_not_configured", pointer: request.pointer)
    }

    private func enqueue(
        _ bench: SendingBench,
        _ json: String,
        check: @escaping SendStore.PayloadCheck = Self.check
    ) async throws -> SendReceipt {
        let now = Timestamp.now()
        let sends = try SendBatch(try JSONParser.parse(Array(json.utf8)), limit: 100, now: now).requests
        return try await bench.store.enqueue(sends, requestId: "r", author: "test", now: now, check: check)[0]
    }

    private func skipped(_ receipt: SendReceipt) -> [String: Int] {
        guard case .accepted(_, let skipped) = receipt else { return [:] }
        return Dictionary(uniqueKeysWithValues: skipped.map { ($0.code, $0.count) })
    }

    private func code(_ receipt: SendReceipt) -> String? {
        guard case .refused(let problem) = receipt else { return nil }
        return problem.code
    }

    @Test("of an audience of 1,000 with 10 devices of a retired app 990 are reached, and the answer says why 10 are not")
    func audience() async throws {
        try await SendingBench.with { bench in
            try await bench.register("template", "t", token: SendingBench.token(1))
            try await bench.pool.execute(
                """
                INSERT INTO devices (userId, deviceId, platform, provider, environment, app, pushToken, pushTokenHash, tokenState,
                    tokenStateSince, registrationVersion, registeredAt, tokenRegisteredAt, lastSeenAt, expiresAt)
                SELECT 'm' || n, 'd', platform, provider, environment, CASE WHEN n <= 10 THEN 'retired' ELSE app END, pushToken,
                    'sha256:' || encode(sha256(convert_to(n::text, 'UTF8')), 'hex'), 'active', now(), n, now(), now(), now(), expiresAt
                FROM devices, generate_series(1, 1000) n WHERE userId = 'template'
                """
            )
            // The retired app was sent to in its time: its queue is there.
            try await bench.enqueue(#"{"sendId": "earlier", "uid": "m1", "title": "Goal"}"#)
            let uids = (1...1000).map { "m\($0)" } + ["without-a-device"]
            _ = try await AudienceStore(pool: bench.pool).change(.replace, "all", uids: uids, recording: .test())
            let receipt = try await enqueue(bench, #"{"sendId": "s", "audience": "all", "title": "Goal"}"#)
            guard case .accepted(deliveries: 990, _) = receipt else { return #expect(Bool(false), "\(receipt)") }
            #expect(skipped(receipt) == ["provider_not_configured": 10, "unknown_uid": 1])
            #expect(try await bench.count("pushDeliveryStates WHERE sendId = 's' AND app = 'retired'") == 0)
            #expect(try await bench.send("s").counts == [.queued: 990])
            // Whoever did not get the answer learns it from a repetition, and from the send.
            guard
                case .duplicate(deliveries: 990, let again) = try await enqueue(
                    bench,
                    #"{"sendId": "s", "audience": "all", "title": "Goal"}"#
                )
            else { return #expect(Bool(false)) }
            #expect(again.map(\.count) == [10, 1])
            #expect(try await bench.send("s").skipped == again)
        }
    }

    @Test("a list of devices goes to those that can be reached; one alone, or none left, is refused with its cause")
    func devices() async throws {
        try await SendingBench.with { bench in
            for number in 1...4 { try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            try await bench.pool.execute("UPDATE devices SET tokenState = 'inactive' WHERE userId = 'u2'")
            try await bench.pool.execute("UPDATE devices SET app = 'retired' WHERE userId = 'u3'")
            let list = try await enqueue(
                bench,
                #"{"sendId": "s1", "deviceIds": ["phone-1", "phone-2", "phone-3", "phone-4", "nobody's", "nothing"], "title": "Goal"}"#
            )
            guard case .accepted(deliveries: 2, _) = list else { return #expect(Bool(false), "\(list)") }
            #expect(skipped(list) == ["no_active_device": 1, "provider_not_configured": 1, "unknown_device": 2])
            for (id, expected) in [("phone-2", "no_active_device"), ("phone-3", "provider_not_configured"), ("nothing", "unknown_device")] {
                #expect(code(try await enqueue(bench, #"{"deviceId": "\#(id)", "title": "Goal"}"#)) == expected)
                #expect(code(try await enqueue(bench, #"{"deviceIds": ["\#(id)"], "title": "Goal"}"#)) == expected)
            }
            // The same, stored by COPY.
            let sends = (1...12).map { #"{"sendId": "c\#($0)", "deviceIds": ["phone-1", "phone-2"], "title": "Goal"}"# }
            _ = try await enqueue(bench, "[\(sends.joined(separator: ","))]")
            #expect(try await bench.send("c12").skipped.map(\.code) == ["no_active_device"])
            #expect(try await bench.send("s1").skipped.count == 3)
            _ = try await enqueue(bench, #"{"sendId": "s2", "deviceId": "phone-1", "title": "Goal"}"#)
            #expect(try await bench.send("s2").skipped.isEmpty)
        }
    }

    @Test("devices of an environment that the credentials leave out are skipped, at once and in portions; one alone is refused")
    func environment() async throws {
        try await SendingBench.with(fanOutSizes: FanOutSizes(devicesAtOnce: 2, people: 2)) { bench in
            for number in 1...6 { try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            try await bench.pool.execute("UPDATE devices SET environment = 'sandbox' WHERE userId IN ('u3', 'u6')")
            _ = try await AudienceStore(pool: bench.pool).change(.replace, "all", uids: (1...6).map { "u\($0)" }, recording: .test())
            // The sandbox was sent to in its time: its queue is there.
            try await bench.enqueue(#"{"sendId": "earlier", "uid": "u3", "title": "Goal"}"#)
            let lookup = ScriptedProvider(environments: [.production]).lookup
            let check = SendValidation.checker(lookup)

            let one = #"{"sendId": "one", "deviceId": "phone-3", "title": "Goal"}"#
            guard case .refused(let problem) = try await enqueue(bench, one, check: check) else { return #expect(Bool(false)) }
            #expect(problem.code == "provider_not_configured")
            #expect(problem.detail.contains("apns, com.example.app, sandbox"), "\(problem.detail)")
            let request = try SendRequest(try JSONParser.parse(Array(one.utf8)), now: .now())
            let dryRun = DryRun(store: bench.store, check: check, lookup: lookup)
            let same = await #expect(throws: Problem.self) { try await dryRun.run(request, apps: .all, now: .now()) }
            #expect(same?.detail == problem.detail)

            let list = try await enqueue(bench, #"{"sendId": "list", "deviceIds": ["phone-2", "phone-3"], "title": "Goal"}"#, check: check)
            guard case .accepted(deliveries: 1, _) = list else { return #expect(Bool(false), "\(list)") }
            #expect(skipped(list) == ["provider_not_configured": 1])
            #expect(try await bench.send("list").counts == [.queued: 1])

            let audience = try await enqueue(bench, #"{"sendId": "audience", "audience": "all", "title": "Goal"}"#, check: check)
            guard case .accepted(deliveries: 4, _) = audience else { return #expect(Bool(false), "\(audience)") }
            #expect(skipped(audience) == ["provider_not_configured": 2])
            try await FanOutService(store: bench.store, wake: WakeSignal(), logger: .silent).storeAll()
            #expect(try await bench.send("audience").counts == [.queued: 4])
        }
    }

    @Test("the answer lists them by cause")
    func document() throws {
        let now = Timestamp.now()
        let json = #"{"sendId": "s", "deviceIds": ["a", "b"], "title": "Goal"}"#
        let batch = try SendBatch(try JSONParser.parse(Array(json.utf8)), limit: 100, now: now)
        let skipped = [SkippedTargets(code: "unknown_device", detail: "No device.", count: 1)]
        #expect(SendBatchResponse(batch, receipts: [.accepted(deliveries: 1, skipped: [])]).items[0].skipped == nil)
        #expect(SendBatchResponse(batch, receipts: [.accepted(deliveries: 1, skipped: skipped)]).items[0].skipped == skipped)
    }

    @Test("an item of the answer is the same however it is written")
    func items() throws {
        let now = Timestamp.now()
        let sends = (0..<5).map { #"{"sendId": "\#($0)", "uid": "ann", "title": "Goal"}"# } + [#"{"sendId": "bad"}"#]
        let batch = try SendBatch(try JSONParser.parse(Array("[\(sends.joined(separator: ","))]".utf8)), limit: 100, now: now)
        let skipped = [SkippedTargets(code: "unknown_device", detail: "No device.", count: 1)]
        let receipts: [SendReceipt] = [
            .accepted(deliveries: 1, skipped: []), .accepted(deliveries: 2, skipped: skipped), .duplicate(deliveries: 3, skipped: skipped),
            .conflict,
            .refused(.invalid("No.", code: "no", pointer: "/4")),
        ]
        let items = SendBatchResponse(batch, receipts: receipts).items
        #expect(items.map(\.result) == ["accepted", "accepted", "duplicate", "conflict", "invalid", "invalid"])
        for item in items {
            var json = JSONWriter()
            try item.write(to: &json)
            #expect(try JSONParser.read(json.bytes) == JSONParser.read(Array(try JSONEncoder.pushwatch.encode(item))))
        }
    }
}
