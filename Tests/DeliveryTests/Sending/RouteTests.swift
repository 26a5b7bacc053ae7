import Delivery
import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import PushContract
import ServiceKit
import Testing

@Suite("Routes")
struct RouteTests {
    private let token = SendingBench.token(1)

    private func withRoutes(_ body: @Sendable (SendingBench, any TestClientProtocol) async throws -> Void) async throws {
        try await SendingBench.with { bench in
            let router = HTTPRouter(authentication: AuthenticationMiddleware(NamedCallers()))
            DeviceRoutes(store: bench.devices).add(to: router)
            SendRoutes(store: bench.store, enqueueService: bench.enqueueService(), dryRun: bench.dryRun()).add(to: router)
            ThrottleRoutes(store: bench.throttles).add(to: router)
            try await Application(router: router).test(.router) { client in try await body(bench, client) }
        }
    }

    @Test("a device is registered, shown without its token, and removed twice with the same answer")
    func devices() async throws {
        try await withRoutes { _, client in
            let body = #"{"deviceId": "phone", "platform": "ios", "app": "com.example.app", "pushToken": "\#(token)"}"#
            let registered = try await client.call("/devices", .post, as: "ann", body)
            #expect(registered.status == .ok)
            let text = String(buffer: registered.body)
            #expect(text.contains(#""state":"active""#) && !text.contains(token))
            #expect(try await client.call("/devices/phone", .get, as: "ann").status == .ok)
            #expect(try await client.call("/devices/phone", .get, as: "bob").status == .notFound)
            #expect(try await client.call("/devices/phone", .delete, as: "ann").status == .noContent)
            #expect(try await client.call("/devices/phone", .delete, as: "ann").status == .noContent)
            #expect(try await client.call("/devices", .post, as: "service", body).status == .forbidden)
            #expect(try await client.call("/devices", .post, as: nil, body).status == .unauthorized)
        }
    }

    @Test("sends: 202, the same again 200, other content 409, unknown target 422, wrong scope 403")
    func sends() async throws {
        try await withRoutes { bench, client in
            try await bench.register("ann", "phone", token: token)
            let body = #"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#
            #expect(try await client.call("/sends", .post, as: "service", body).status == .accepted)
            #expect(try await client.call("/sends", .post, as: "service", body).status == .ok)
            #expect(try await client.call("/sends", .post, as: "service", #"{"sendId": "s1", "uid": "ann"}"#).status == .conflict)
            let unknown = try await client.call("/sends", .post, as: "service", #"{"uid": "nobody"}"#)
            #expect(unknown.status == .unprocessableContent)
            #expect(String(buffer: unknown.body).contains("unknown_uid"))
            #expect(try await client.call("/sends", .post, as: "reader", body).status == .forbidden)
            #expect(try await client.call("/sends", .post, as: "service", "{").status == .badRequest)

            try await bench.dispatch(ScriptedProvider())
            let shown = try await client.call("/sends/s1", .get, as: "reader")
            #expect(shown.status == .ok)
            #expect(String(buffer: shown.body).contains(#""state":"sent""#))
            #expect(try await client.call("/sends/none", .get, as: "reader").status == .notFound)
            #expect(try await client.call("/sends/none", .delete, as: "service").status == .notFound)
        }
    }

    @Test("a send is shown in pages, each with its attempts, with the totals of all; a duplicate in a batch has its deliveries")
    func pages() async throws {
        try await withRoutes { bench, client in
            for number in 1...5 { try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            let uids = (1...5).map { #""user-\#($0)""# }.joined(separator: ",")
            let send = #"{"sendId": "s1", "uids": [\#(uids)], "title": "t"}"#
            let receipts = try await bench.enqueue("[\(send), \(send)]")
            guard case .accepted(deliveries: 5, _) = receipts[0], case .duplicate(deliveries: 5, _) = receipts[1] else {
                return #expect(Bool(false), "\(receipts)")
            }
            try await bench.dispatch(ScriptedProvider([SendingBench.token(1): [.apns(503, "ServiceUnavailable")]]))

            var uidsSeen: [String] = []
            var attempts = 0
            var query = "?limit=2"
            for page in 1...3 {
                let response = try await client.call("/sends/s1\(query)", .get, as: "reader")
                let document = try JSONParser.parse(Array(buffer: response.body))
                #expect(document["attemptCount"] == .integer(6) && document["counts"] == .object(["sent": .integer(5)]))
                #expect(document["attemptsTruncated"] == .bool(false))
                guard case .array(let deliveries)? = document["deliveries"], case .array(let rows)? = document["attempts"] else {
                    return #expect(Bool(false), "\(document.text)")
                }
                uidsSeen += deliveries.compactMap { $0["uid"]?.string }
                attempts += rows.count
                #expect((document["next"] == nil) == (page == 3))
                query = "?limit=2&after=\(document["next"]?.string ?? "")"
            }
            #expect(Set(uidsSeen).count == 5 && uidsSeen.count == 5)
            #expect(attempts == 6)
            #expect(try await client.call("/sends/s1?limit=0", .get, as: "reader").status == .badRequest)
            #expect(try await client.call("/sends/s1?after=x", .get, as: "reader").status == .badRequest)
        }
    }

    @Test("an array answers 207 with counts when not every element is stored")
    func batch() async throws {
        try await withRoutes { bench, client in
            try await bench.register("ann", "phone", token: token)
            let mixed = try await client.call("/sends", .post, as: "service", #"[{"uid": "ann"}, {"uid": "nobody"}, {"uid": 1}]"#)
            #expect(mixed.status.code == 207)
            let text = String(buffer: mixed.body)
            #expect(text.contains(#""accepted":1"#) && text.contains(#""invalid":2"#) && text.contains(#""pointer":"/1/uid""#))
            #expect(try await client.call("/sends", .post, as: "service", #"[{"uid": "ann"}, {"uid": "ann"}]"#).status == .accepted)
        }
    }

    @Test("on-call sets, sees and removes a throttle; the backlog is shown next to it")
    func throttle() async throws {
        try await withRoutes { bench, client in
            let body = #"{"provider": "fcm", "perMinute": 0, "reason": "FCM is down", "minutes": 30}"#
            let set = try await client.call("/sends/throttle", .put, as: "service", body)
            #expect(set.status == .ok)
            #expect(String(buffer: set.body).contains(#""effectivePerMinute":4"#))
            #expect(try await client.call("/sends/throttle", .put, as: "reader", body).status == .forbidden)
            #expect(try await client.call("/sends/throttle", .put, as: "service", #"{"perMinute": 0}"#).status == .unprocessableContent)
            #expect(try await bench.throttles.current().count == 1)
            #expect(try await client.call("/sends/throttle?provider=fcm", .delete, as: "service").status == .ok)
            #expect(try await bench.throttles.current().isEmpty)
            #expect(try await client.call("/sends/backlog", .get, as: "reader").status == .ok)
        }
    }
}
