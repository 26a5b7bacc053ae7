import HTTPServer
import Postgres
import PushContract
import ServiceKit
import TestDatabase
import Testing

@testable import Delivery

/// The audience `fans`: `u1` to `u25`, each with a phone, in portions of four.
@Suite("Sends to large audiences are stored in portions")
struct FanOutTests {
    private static let members = 1...25

    private func withFans(_ body: (SendingBench) async throws -> Void) async throws {
        try await SendingBench.with(fanOutSizes: FanOutSizes(devicesAtOnce: 10, people: 4)) { bench in
            for number in Self.members { try await bench.register("u\(number)", "phone-\(number)", token: SendingBench.token(number)) }
            _ = try await AudienceStore(pool: bench.pool).change(.replace, "fans", uids: Self.members.map { "u\($0)" }, recording: .test())
            try await body(bench)
        }
    }

    private func service(_ bench: SendingBench) -> FanOutService {
        FanOutService(store: bench.store, wake: WakeSignal(), logger: .silent)
    }

    private func send(_ sendId: String, _ members: String = "") -> String {
        #"{"sendId": "\#(sendId)", "audience": "fans", "title": "Goal"\#(members)}"#
    }

    /// The deliveries of a send by the state of each, as numbers of the users.
    private func users(_ bench: SendingBench, _ sendId: String, _ state: DeliveryState) async throws -> Set<Int> {
        Set(try await bench.send(sendId).deliveries.filter { $0.state == state }.compactMap { Int($0.uid.dropFirst()) })
    }

    @Test("the answer counts everybody; what is stored can be sent at once, and the rest follows; the same request again changes nothing")
    func portions() async throws {
        try await withFans { bench in
            guard case .accepted(deliveries: 25, _) = try await bench.enqueue(send("s1"))[0] else { return #expect(Bool(false)) }
            guard case .duplicate(deliveries: 25, _) = try await bench.enqueue(send("s1"))[0] else { return #expect(Bool(false)) }
            var stored = try await bench.send("s1")
            #expect(stored.state == .storing && stored.counts == [.queued: 4])
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            stored = try await bench.send("s1")
            #expect(stored.state == .storing && stored.counts == [.sent: 4])
            #expect(try await bench.store.apps(of: "s1") == ["com.example.app"])

            try await service(bench).storeAll()
            stored = try await bench.send("s1")
            #expect(stored.state == .queued && stored.counts == [.sent: 4, .queued: 21])
            try await bench.dispatch(provider)
            #expect(try await bench.send("s1").counts == [.sent: 25])
            #expect(provider.calls.count == 25 && Set(provider.calls.map(\.token)).count == 25)
            guard case .duplicate(deliveries: 25, _) = try await bench.enqueue(send("s1"))[0] else { return #expect(Bool(false)) }
            #expect(try await bench.count("pushFanOuts") == 0)
            let page = try await OutcomeStream(pool: bench.pool).page(after: .start, .init(events: ["accepted"]), limit: 10)
            #expect(page.outcomes.map { $0["deliveries"]?.integer } == [25])
        }
    }

    @Test("one with no more devices than may be stored at once is stored at once")
    func small() async throws {
        try await withFans { bench in
            try await bench.pool.execute("DELETE FROM audienceMembers WHERE uid > 'u18'")
            guard case .accepted(deliveries: 10, _) = try await bench.enqueue(send("s1"))[0] else { return #expect(Bool(false)) }
            #expect(try await bench.send("s1").counts == [.queued: 10])
            #expect(try await bench.send("s1").state == .queued)
        }
    }

    @Test("several instances and several sends: each device gets each send once, in turns")
    func instances() async throws {
        try await withFans { bench in
            try await bench.enqueue("[\(send("s1")), \(send("s2")), \(send("s3", #", "app": "com.example.app""#))]")
            let service = service(bench)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 1...4 { group.addTask { try await service.storeAll() } }
                try await group.waitForAll()
            }
            // One that was locked whenever another looked is left to the next turn.
            try await service.storeAll()
            for sendId in ["s1", "s2", "s3"] {
                let stored = try await bench.send(sendId)
                #expect(stored.counts == [.queued: 25] && Set(stored.deliveries.map(\.uid)).count == 25)
            }
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("the class decides whose portion is next, then who has waited longest")
    func turns() async throws {
        try await withFans { bench in
            for sendId in ["s1", "s2"] { try await bench.enqueue(send(sendId)) }
            try await bench.enqueue(send("s3", #", "class": "critical""#))
            var order: [String] = []
            while let sendId = try await bench.store.nextFanOut(except: []) {
                order.append(sendId)
                #expect(try await bench.store.storeNext(of: sendId) != nil)
            }
            // Six portions are left of each, the last of which is the 25th member alone.
            #expect(order == Array(repeating: "s3", count: 6) + (1...6).flatMap { _ in ["s1", "s2"] })
        }
    }

    @Test("the newest wins from the moment at which a send is accepted, whenever a portion is stored")
    func newest() async throws {
        try await withFans { bench in
            let collapse = #", "collapseId": "match-7""#
            func one(_ sendId: String, _ user: String, _ members: String = "") -> String {
                #"{"sendId": "\#(sendId)", "uid": "\#(user)", "title": "t", "collapseId": "match-7"\#(members)}"#
            }
            try await bench.enqueue(one("before", "u9"))
            try await bench.enqueue(send("s1", collapse))
            try await bench.enqueue(one("between", "u8"))
            try await bench.enqueue(send("s2", collapse))
            try await bench.enqueue(one("after", "u7"))
            for sendId in ["s1", "s2"] { #expect(try await bench.send(sendId).state == .storing) }

            // The newer one first.
            while try await bench.store.storeNext(of: "s2") != nil {}
            while try await bench.store.storeNext(of: "s1") != nil {}
            for sendId in ["before", "between"] { #expect(try await bench.send(sendId).state == .superseded) }
            #expect(try await bench.send("s1").counts == [.superseded: 25])
            #expect(try await users(bench, "s2", .superseded) == [7])
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(try await bench.send("s2").counts == [.sent: 24, .superseded: 1])
            #expect(try await bench.send("after").state == .sent)
            #expect(provider.calls.count == 25)
            #expect(try await bench.deliveriesOutOfPlace() == 0)
        }
    }

    @Test("in the order of acceptance, too, the newer portions replace the older ones")
    func inOrder() async throws {
        try await withFans { bench in
            for sendId in ["s1", "s2"] { try await bench.enqueue(send(sendId, #", "collapseId": "match-7""#)) }
            while try await bench.store.storeNext(of: "s1") != nil {}
            while try await bench.store.storeNext(of: "s2") != nil {}
            #expect(try await bench.send("s1").counts == [.superseded: 25])
            #expect(try await bench.send("s2").counts == [.queued: 25])
        }
    }

    @Test("a version decides before the order of acceptance")
    func versions() async throws {
        try await withFans { bench in
            try await bench.enqueue(send("s1", #", "collapseId": "match-7", "version": 6"#))
            try await bench.enqueue(#"{"sendId": "old", "uid": "u9", "title": "t", "collapseId": "match-7", "version": 5}"#)
            try await bench.enqueue(#"{"sendId": "same", "uid": "u8", "title": "t", "collapseId": "match-7", "version": 6}"#)
            try await service(bench).storeAll()
            #expect(try await bench.send("old").state == .superseded)
            #expect(try await bench.send("same").state == .queued)
            #expect(try await users(bench, "s1", .superseded) == [8])
        }
    }

    @Test("a version does not decide where one without a version was accepted after the large send")
    func versionlessBetween() async throws {
        try await withFans { bench in
            try await bench.enqueue(send("large", #", "collapseId": "match-7", "version": 5"#))
            try await bench.enqueue(#"{"sendId": "plain", "uid": "u9", "title": "t", "collapseId": "match-7"}"#)
            try await bench.enqueue(#"{"sendId": "three", "uid": "u9", "title": "t", "collapseId": "match-7", "version": 3}"#)
            try await service(bench).storeAll()
            #expect(try await bench.send("plain").state == .superseded)
            #expect(try await bench.send("three").state == .queued)
            #expect(try await users(bench, "large", .superseded) == [9])
        }
    }

    @Test("cancelling ends the storing; what was stored ends when a worker comes to it")
    func cancel() async throws {
        try await withFans { bench in
            try await bench.enqueue(send("s1"))
            #expect(try await bench.store.cancel("s1", author: "test") == 0)
            try await service(bench).storeAll()
            let provider = ScriptedProvider()
            try await bench.dispatch(provider)
            #expect(provider.calls.isEmpty)
            #expect(try await bench.send("s1").counts == [.cancelled: 4])
            #expect(try await bench.send("s1").state == .cancelled)
        }
    }

    @Test("one that is cancelled before any of its members had a device is cancelled")
    func cancelWithoutDeliveries() async throws {
        try await withFans { bench in
            // Before all others.
            _ = try await AudienceStore(pool: bench.pool).change(.add, "fans", uids: (1...4).map { "a\($0)" }, recording: .test())
            try await bench.enqueue(send("s1"))
            #expect(try await bench.send("s1").state == .storing)
            #expect(try await bench.store.cancel("s1", author: "test") == 0)
            #expect(try await bench.send("s1").counts == [:])
            #expect(try await bench.send("s1").state == .cancelled)
        }
    }

    @Test("an audience that is being sent to loses no members; who is added may be reached")
    func audienceInUse() async throws {
        try await withFans { bench in
            let audiences = AudienceStore(pool: bench.pool)
            try await bench.enqueue(send("s1"))
            for change in [AudienceStore.Change.replace, .remove] {
                let problem = await #expect(throws: Problem.self) {
                    try await audiences.change(change, "fans", uids: ["u9"], recording: .test())
                }
                #expect(problem?.code == "audience_in_use" && problem?.detail.contains("s1") == true, "\(String(describing: problem))")
            }
            let problem = await #expect(throws: Problem.self) { try await audiences.delete("fans", recording: .test()) }
            #expect(problem?.code == "audience_in_use")
            try await bench.register("u99", "phone-99", token: SendingBench.token(99))
            #expect(try await audiences.change(.add, "fans", uids: ["u99"], recording: .test())?.members == 26)

            try await service(bench).storeAll()
            #expect(try await bench.send("s1").counts == [.queued: 26])
            #expect(try await audiences.change(.replace, "fans", uids: ["u9"], recording: .test())?.members == 1)
            #expect(try await audiences.delete("fans", recording: .test()))
        }
    }

    @Test(
        "a send whose portion cannot be stored is tried again later, and the others do not wait for it, whatever the error",
        arguments: ["P0001", "57014", "53200"]
    )
    func failure(code: String) async throws {
        try await withFans { bench in
            for sendId in ["s1", "s2"] { try await bench.enqueue(send(sendId)) }
            try await bench.pool.execute(
                """
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN IF NEW.sendId = 's1' THEN RAISE 'refused' USING ERRCODE = '\(raw: code)'; END IF; RETURN NEW; END $$
                """
            )
            try await bench.pool.execute("CREATE TRIGGER refuse BEFORE INSERT ON pushDeliveries FOR EACH ROW EXECUTE FUNCTION refuse()")
            try await service(bench).storeAll()
            #expect(try await bench.send("s1").counts == [.queued: 4])
            #expect(try await bench.send("s2").counts == [.queued: 25])
            try await bench.pool.execute("DROP TRIGGER refuse ON pushDeliveries")
            try await service(bench).storeAll()
            #expect(try await bench.send("s1").counts == [.queued: 25])
        }
    }

    @Test("an erased user is not reached, and the send goes on; retention removes what was left over")
    func erasure() async throws {
        try await withFans { bench in
            try await bench.enqueue(send("s1", #", "app": "com.example.app""#))
            for number in Self.members where number != 20 {
                try await bench.devices.erase(userId: "u\(number)", requestId: "erase-\(number)", recording: .test())
            }
            try await service(bench).storeAll()
            #expect(try await bench.send("s1").deliveries.map(\.uid) == ["u20"])

            try await bench.pool.execute(
                """
                INSERT INTO pushFanOuts (sendId, audienceId, providers, platforms, environments, apps, devices, acceptedAs)
                VALUES ('s1', 'fans', '{}', '{}', '{}', '{}', 1, 0)
                """
            )
            try await bench.pool.execute(
                "UPDATE pushSends SET createdAt = now() - interval '60 days', expiresAt = now() - interval '59 days'"
            )
            #expect(try await bench.store.forget(olderThan: .seconds(45 * 86_400)) == false)
            #expect(try await bench.count("pushFanOuts") == 0)
            #expect(try await bench.count("pushSends") == 0)
        }
    }

    @Test("a scheduled send waits in all its portions")
    func scheduled() async throws {
        try await withFans { bench in
            let later = (Timestamp.now() + .seconds(3600)).rfc3339
            try await bench.enqueue(send("s1", #", "notBefore": "\#(later)""#))
            try await service(bench).storeAll()
            #expect(try await bench.send("s1").counts == [.scheduled: 25])
        }
    }
}
