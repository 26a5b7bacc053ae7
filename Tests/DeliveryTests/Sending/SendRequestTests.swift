import Delivery
import HTTPServer
import HTTPTypes
import PushContract
import ServiceKit
import Testing

@Suite("Reading sends")
struct SendRequestTests {
    static let now = Timestamp(seconds: 1_770_000_000)

    private func read(_ json: String) throws -> SendRequest {
        try SendRequest(try JSONParser.parse(Array(json.utf8)), now: Self.now)
    }

    @Test("the defaults: normal urgency, at least once, a day")
    func defaults() throws {
        let send = try read(#"{"uid": "ann", "title": "Goal"}"#)
        #expect(send.deliveryClass == nil)
        #expect(send.policy == .atLeastOnce)
        #expect(send.expiresAt == Self.now + .seconds(86_400))
        #expect(send.sendId.count == ULID.length)
    }

    @Test("a call and a push to talk are tried for half a minute", arguments: ["voip", "pushtotalk"])
    func calls(pushType: String) throws {
        #expect(try read(#"{"uid": "ann", "pushType": "\#(pushType)"}"#).expiresAt == Self.now + .seconds(30))
    }

    @Test("the day counts from notBefore")
    func notBefore() throws {
        let send = try read(#"{"uid": "ann", "notBefore": "2026-03-01T00:00:00Z"}"#)
        #expect(send.expiresAt == Timestamp(rfc3339: "2026-03-02T00:00:00Z"))
    }

    @Test(
        "what is refused, with its code and place",
        arguments: [
            (#"{"uid": "ann", "titel": "Goal"}"#, "unknown_field", "/titel"),
            (#"{"title": "Goal"}"#, "missing_target", ""),
            (#"{"uid": 7}"#, "invalid", "/uid"),
            (#"{"uid": "a\u0007b"}"#, "invalid", "/uid"),
            (#"{"deviceId": "d", "token": "ab"}"#, "invalid", "/token"),
            (#"{"deviceId": "d", "app": "a"}"#, "unknown_field", "/app"),
            (#"{"deviceIds": ["d"], "app": "a"}"#, "unknown_field", "/app"),
            (#"{"token": "abcd", "app": "a"}"#, "missing_field", "/provider"),
            (#"{"token": "abcd", "provider": "apns"}"#, "missing_field", "/app"),
            (#"{"token": "xyz", "provider": "apns", "app": "a"}"#, "invalid", "/token"),
            (#"{"token": "abcd", "provider": "apns", "platform": "android", "app": "a"}"#, "invalid", "/platform"),
            (#"{"token": "550e8400-e29b-41d4-a716-446655440000", "provider": "fcm", "app": "a"}"#, "invalid", "/token"),
            (#"{"uid": "ann", "critical": "yes"}"#, "invalid", "/critical"),
            (#"{"uid": "ann", "policy": "exactly_once"}"#, "invalid", "/policy"),
            (#"{"uid": "ann", "expiresAt": "2020-01-01T00:00:00Z"}"#, "invalid", "/expiresAt"),
            (#"{"uid": "ann", "expiresAt": "2027-01-01T00:00:00Z"}"#, "invalid", "/expiresAt"),
            (#"{"uid": "ann", "expiresAt": "tomorrow"}"#, "invalid", "/expiresAt"),
            (#"{"uid": "ann", "sendId": "with space"}"#, "invalid", "/sendId"),
            (#"{"uid": "ann", "sendId": "backlog"}"#, "invalid", "/sendId"),
            (#"{"uid": "ann", "sendId": "live~DeliveryActivityAttributes~4711~now~android"}"#, "invalid", "/sendId"),
            (#"{"uid": "ann", "sendId": "prematch~m1-1770000000"}"#, "invalid", "/sendId"),
            (#"{"uid": "ann", "data": [1]}"#, "invalid", "/data"),
            (#"[]"#, "invalid", ""),
        ]
    )
    func refusals(json: String, code: String, pointer: String) {
        let problem = #expect(throws: Problem.self) { try read(json) }
        #expect(problem?.status == .unprocessableContent)
        #expect(problem?.code == code)
        #expect(problem?.pointer == pointer)
    }

    @Test("a field that is null is absent, also for whether a send is the same again")
    func nulls() throws {
        let send = try read(#"{"sendId": "s", "deviceId": "d", "title": "Goal", "data": {"score": null}}"#)
        let same = try read(
            #"{"sendId": "s", "deviceId": "d", "app": null, "uid": null, "title": "Goal", "body": null, "data": {"score": null}}"#
        )
        let other = try read(#"{"sendId": "s", "deviceId": "d", "title": "Goal", "data": {}}"#)
        #expect(send.contentHash == same.contentHash && send.contentHash != other.contentHash)
        #expect(send.contentHash.count == 16)
    }

    @Test("one bad element of an array does not spoil the others")
    func batch() throws {
        let batch = try SendBatch(
            try JSONParser.parse(Array(#"[{"uid": "ann"}, {"uid": ""}, {"uid": "bob"}]"#.utf8)),
            limit: 3,
            now: Self.now
        )
        let pointers: [String?] = batch.elements.map { if case .refused(_, let problem) = $0 { problem.pointer } else { nil } }
        #expect(pointers == [nil, "/1/uid", nil])
    }

    @Test("a number that no system reads is the fault of its element alone")
    func largeNumber() throws {
        let text = #"[{"uid": "ann"}, {"uid": "bob", "data": {"a": 1E400}}, {"uid": "cy"}]"#
        let batch = try SendBatch(try JSONParser.parse(Array(text.utf8), keepsInfinity: true), limit: 3, now: Self.now)
        let pointers: [String?] = batch.elements.map { if case .refused(_, let problem) = $0 { problem.pointer } else { nil } }
        #expect(pointers == [nil, "/1", nil])
        let single = try JSONParser.parse(Array(#"{"uid": "ann", "data": {"a": -1E400}}"#.utf8), keepsInfinity: true)
        #expect(throws: Problem.self) { try SendBatch(single, limit: 3, now: Self.now) }
        #expect(throws: Problem.self) { try JSONParser.parse(Array("1E400".utf8)) }
    }

    @Test(
        "the state of a send follows from its deliveries",
        arguments: [
            ([DeliveryState.sent, .sent], SendState.sent), ([.sent, .failed], .partial), ([.queued, .sent], .queued),
            ([.sending, .queued], .sending), ([.retrying, .failed], .retrying), ([.scheduled], .scheduled), ([.failed, .expired], .failed),
            ([.expired, .cancelled], .expired), ([.cancelled, .unreachable], .cancelled), ([.unreachable], .unreachable),
        ]
    )
    func states(deliveries: [DeliveryState], expected: SendState) {
        #expect(SendState(deliveries) == expected)
    }
}
