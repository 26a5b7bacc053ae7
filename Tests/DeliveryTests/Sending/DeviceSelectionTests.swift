import Postgres
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Delivery

/// Devices of users whose names begin so, but for those of one app.
private struct Named: DeviceSelection {
    var prefix: String
    var exceptApp: String

    func people(_ uids: UidRange, now: Timestamp) -> Query {
        """
        SELECT DISTINCT userId AS uid, NULL::text AS deviceId FROM devices
        WHERE starts_with(userId, \(prefix)) AND \(uids.contains("userId"))
        """
    }

    func includes(now: Timestamp) -> Query { "d.app <> \(exceptApp)" }
}

@Suite("Sends to devices that another feature selects")
struct DeviceSelectionTests {
    private static let fans = Named(prefix: "fan", exceptApp: "com.example.other")

    private func withFans(
        selection: (any DeviceSelection.Type)? = Named.self,
        _ body: (SendingBench) async throws -> Void
    ) async throws {
        try await SendingBench.with(fanOutSizes: FanOutSizes(devicesAtOnce: 5, people: 3), selection: selection) { bench in
            for number in 1...8 {
                try await bench.register("fan\(number)", "phone-\(number)", token: SendingBench.token(number))
                try await bench.register("fan\(number)", "pad-\(number)", token: SendingBench.token(100 + number), app: "com.example.other")
            }
            try await bench.register("somebody", "phone", token: SendingBench.token(99))
            try await body(bench)
        }
    }

    private func enqueue(_ bench: SendingBench, _ selection: Named = fans) async throws -> SendReceipt {
        let request = try SendRequest(
            sendId: "live~s1",
            target: .selected(selection),
            content: ["title": "Goal"],
            deliveryClass: .high,
            expiresAt: .now() + .seconds(600)
        )
        return try await bench.store.enqueue([request], requestId: "r", author: "test", now: .now(), check: { _, _ in nil })[0]
    }

    @Test("more than are stored at once: in portions by people; who is not selected any more when their turn comes is left out")
    func portions() async throws {
        try await withFans { bench in
            guard case .accepted(deliveries: 8, skipped: []) = try await enqueue(bench) else { return #expect(Bool(false)) }
            #expect(try await bench.send("live~s1").deliveries.map(\.uid).sorted() == ["fan1", "fan2", "fan3"])
            #expect(try await bench.send("live~s1").state == .storing)
            try await bench.devices.erase(userId: "fan7", requestId: "erase", recording: .test())
            try await bench.register("fan9", "phone-9", token: SendingBench.token(9))
            try await FanOutService(store: bench.store, wake: WakeSignal(), logger: .silent).storeAll()
            let stored = try await bench.send("live~s1")
            #expect(stored.deliveries.map(\.uid).sorted() == ["fan1", "fan2", "fan3", "fan4", "fan5", "fan6", "fan8", "fan9"])
            #expect(stored.state == .queued && stored.deliveries.allSatisfy { $0.app == "com.example.app" })
            guard case .duplicate(deliveries: 8, _) = try await enqueue(bench) else { return #expect(Bool(false)) }
        }
    }

    @Test("no more than are stored at once: at once; nobody: refused, and nothing is stored")
    func small() async throws {
        try await withFans { bench in
            guard case .refused = try await enqueue(bench, Named(prefix: "nobody", exceptApp: "")) else { return #expect(Bool(false)) }
            #expect(try await bench.count("pushSends") == 0)
            guard case .accepted(deliveries: 2, _) = try await enqueue(bench, Named(prefix: "fan1", exceptApp: "")) else {
                return #expect(Bool(false))
            }
            #expect(try await bench.count("pushFanOuts") == 0)
        }
    }

    @Test("few devices of many people: in portions, too")
    func fewDevices() async throws {
        try await withFans { bench in
            for number in 1...7 { try await bench.register("many\(number)", "phone-m\(number)", token: SendingBench.token(20 + number)) }
            try await bench.register("many6", "pad", token: SendingBench.token(120), app: "com.example.other")
            let selection = Named(prefix: "many", exceptApp: "com.example.app")
            guard case .accepted(deliveries: 1, _) = try await enqueue(bench, selection) else { return #expect(Bool(false)) }
            #expect(try await bench.send("live~s1").state == .storing)
            try await FanOutService(store: bench.store, wake: WakeSignal(), logger: .silent).storeAll()
            #expect(try await bench.send("live~s1").deliveries.map(\.uid) == ["many6"])
            #expect(try await bench.send("live~s1").state == .queued)
        }
    }

    @Test("an instance that does not know the feature leaves the send to others")
    func unknown() async throws {
        try await withFans(selection: nil) { bench in
            _ = try await enqueue(bench)
            try await FanOutService(store: bench.store, wake: WakeSignal(), logger: .silent).storeAll()
            #expect(try await bench.send("live~s1").counts == [.queued: 3])
            #expect(try await bench.count("pushFanOuts") == 1)
        }
    }
}
