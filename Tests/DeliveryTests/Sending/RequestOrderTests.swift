import Logging
import Postgres
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Delivery

@Suite("Sends with one collapseId in one request")
struct RequestOrderTests {
    private static let token = SendingBench.token(1)
    private static let targets = [
        #""uid": "ann""#, #""deviceId": "phone""#, #""uids": ["ann"]"#, #""audience": "fans""#,
        #""token": "\#(token)", "provider": "apns", "app": "com.example.app""#,
    ]

    private func send(_ sendId: String, _ target: String) -> String {
        #"{"sendId": "\#(sendId)", \#(target), "title": "t", "collapseId": "match"}"#
    }

    @Test("the last one is the newest, whatever their targets", arguments: targets, targets)
    func last(first: String, last: String) async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: Self.token)
            _ = try await AudienceStore(pool: bench.pool).change(.replace, "fans", uids: ["ann"], recording: .test())
            let receipts = try await bench.enqueueService().submit(bench.post("[\(send("first", first)),\(send("last", last))]"))
            #expect(receipts.map(\.isAccepted) == [true, true])
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["last"])
            #expect(try await bench.send("first").state == .superseded)
        }
    }

    @Test("a request that names one send twice, in different parts, stores it once")
    func repeated() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: Self.token)
            let (list, device) = (send("list", Self.targets[2]), send("device", Self.targets[1]))
            let receipts = try await bench.enqueueService().submit(bench.post("[\(list),\(device),\(list)]"))
            guard case .duplicate = receipts[2] else { return #expect(Bool(false), "\(receipts)") }
            #expect(try await bench.count("pushDeliveries") == 2)
        }
    }

    @Test("a request of many parts that is repeated after some were stored stores the others, and answers for each send")
    func continued() async throws {
        try await SendingBench.with { bench in
            try await bench.register("ann", "phone", token: Self.token)
            let sends = (1...15).map { send("s\($0)", Self.targets[2]) }
            let service = bench.enqueueService()
            _ = try await service.submit(bench.post("[" + sends.prefix(12).joined(separator: ",") + "]"))
            let receipts = try await service.submit(bench.post("[" + sends.joined(separator: ",") + "]"))
            #expect(receipts.map(\.isAccepted) == Array(repeating: false, count: 12) + [true, true, true])
            #expect(try await bench.count("pushDeliveries") == 15)
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(provider.calls.map(\.sendId) == ["s15"])
        }
    }

    @Test("requests with the same lists in another order do not wait for each other in a circle")
    func lists() async throws {
        try await SendingBench.with { bench in
            for number in 1...40 { try await bench.register("user-\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            let log = RecordingLog { "\($0.message) \($0.metadata ?? [:])".contains(/deadlock|40P01/) }
            let pool = PostgresPool(configuration: bench.pool.configuration, logger: log.logger)
            defer { pool.close() }
            let store = SendStore(pool: pool, cipher: bench.cipher, record: AttemptRecording.recorder(slot: 9, logger: .silent))
            let service = EnqueueService(store: store, check: { _, _ in nil }, wake: WakeSignal(), logger: log.logger)
            let lists = stride(from: 1, to: 41, by: 10).map { start in
                #""uids": ["# + (start..<start + 10).map { #""user-\#($0)""# }.joined(separator: ", ") + "]"
            }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for round in 0..<12 {
                    let order = round % 2 == 0 ? lists : lists.reversed()
                    let sends = order.enumerated().map { send("s\(round)-\($0)", $1) }
                    let post = try bench.post("[" + sends.joined(separator: ",") + "]")
                    tasks.addTask { _ = try await service.submit(post) }
                }
                try await tasks.waitForAll()
            }
            #expect(log.events.isEmpty, "\(log.events)")
            #expect(try await bench.count("pushNewest") == 40)
        }
    }
}

extension SendReceipt {
    fileprivate var isAccepted: Bool { if case .accepted = self { true } else { false } }
}
