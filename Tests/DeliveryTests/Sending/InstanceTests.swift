import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

@testable import Delivery

@Suite("Running instances")
struct InstanceTests {
    private static func instance(
        _ number: Int,
        version: String = "1",
        roles: [String] = ["api", "send"],
        keys: [String] = ["T/K#1"],
        tokenKeys: [String] = ["k1"],
        startedAt: Timestamp = Timestamp(seconds: 1_800_000_000)
    ) -> Instance {
        Instance(
            instance: "00000000-0000-4000-8000-00000000000\(number)",
            host: "host-\(number)",
            version: version,
            startedAt: startedAt,
            roles: roles,
            credentials: keys.map { Instance.Credential(name: "APNs", id: $0, provider: .apns) },
            tokenKeys: tokenKeys,
            seenAt: .now()
        )
    }

    @Test("versions that differ are marked, and credentials that differ among instances that use them")
    func differences() {
        let same = [Self.instance(1, keys: ["a", "b"]), Self.instance(2, keys: ["b", "a"]), Self.instance(3, roles: ["alert"], keys: [])]
        #expect(InstanceDifference.all(of: same).isEmpty && InstanceDifference.all(of: []).isEmpty)
        let mixed = [Self.instance(1), Self.instance(2, version: "2"), Self.instance(3, roles: ["live"], keys: ["T/K#2"])]
        #expect(
            InstanceDifference.all(of: mixed).map(\.summary) == [
                "version differs: 1 (host-1 00000000, host-3 00000000); 2 (host-2 00000000)",
                "credentials of apns differ: T/K#1 (host-1 00000000, host-2 00000000); T/K#2 (host-3 00000000)",
            ]
        )
        for roles in [["api", "send"], ["api"]] {
            let differences = InstanceDifference.all(of: [Self.instance(1), Self.instance(2, roles: roles, keys: [])])
            #expect(differences.map(\.subject) == ["credentials of apns"], "\(roles)")
        }
    }

    @Test("token keys that differ are marked among instances that use them, and keep older keys from being retired")
    func tokenKeys() {
        let alerting = Self.instance(4, roles: ["alert"], keys: [], tokenKeys: [])
        let same = [Self.instance(1, tokenKeys: ["k3", "k1", "k2"]), Self.instance(2, tokenKeys: ["k3", "k2", "k1"]), alerting]
        #expect(InstanceDifference.all(of: same).isEmpty)
        #expect(same.compactMap { $0.rotationFault("k3") }.isEmpty)
        let mixed = [Self.instance(1, tokenKeys: ["k2", "k1"]), Self.instance(2, tokenKeys: ["k1", "k2"]), Self.instance(3), alerting]
        #expect(
            InstanceDifference.all(of: mixed).map(\.summary) == [
                "token keys differ: k1 (host-3 00000000); k1, k2 (host-2 00000000); k2, k1 (host-1 00000000)"
            ]
        )
        #expect(InstanceDifference.all(of: mixed).map(\.label) == ["token_keys"])
        #expect(
            mixed.compactMap { $0.rotationFault("k2") } == [
                "host-2 00000000 encrypts with k1", "host-3 00000000 does not have it",
            ]
        )
    }

    @Test("an instance that ends is not among those that run")
    func ends() async throws {
        try await SendingBench.with { bench in
            let store = InstanceStore(pool: bench.pool)
            try await withServices([InstanceReporter(store: store, logger: .silent) { Self.instance(1) }]) {
                try await eventually("it has reported") { try await store.running().count == 1 }
            }
            #expect(try await store.running().isEmpty)
        }
    }

    @Test("a report is read back with the clock's deviation, replaced by the instance's next one, and counts for 30 seconds")
    func store() async throws {
        try await SendingBench.with { bench in
            let store = InstanceStore(pool: bench.pool)
            var first = Self.instance(1)
            first.credentials[0].acceptedAt = Timestamp(seconds: 1_800_000_100)
            first.seenAt = .now() + .seconds(90)
            try await store.report(first)
            try await store.report(Self.instance(2, startedAt: Timestamp(seconds: 1_700_000_000)))
            let running = try await store.running()
            #expect(running.map(\.host) == ["host-2", "host-1"])
            #expect(running.last?.credentials == first.credentials && running.last?.roles == ["api", "send"])
            #expect(running.last?.tokenKeys == ["k1"])
            #expect(running.last.map { (85...95).contains($0.clockAheadSeconds) } == true)
            try await store.report(Self.instance(2, version: "2", keys: ["T/K#2"]))
            let replaced = try await store.running().filter { $0.host == "host-2" }
            #expect(replaced.map(\.version) == ["2"] && replaced.first?.credentials.map(\.id) == ["T/K#2"])
            try await bench.pool.execute("UPDATE instances SET at = at - interval '31 seconds' WHERE host = 'host-1'")
            #expect(try await store.running().map(\.host) == ["host-2"])
        }
    }

    @Test("the gate knows when a credential was last accepted")
    func accepted() async throws {
        try await SendingBench.with { bench in
            let dispatcher = bench.dispatcher(ScriptedProvider().lookup)
            #expect(dispatcher.lastAccepted().isEmpty)
            let before = Timestamp.now()
            try await bench.register("ann", "phone", token: SendingBench.token(1))
            try await bench.enqueue(#"{"uid": "ann", "title": "a"}"#)
            try await dispatcher.runUntilIdle()
            #expect(dispatcher.lastAccepted()["key-1"].map { $0 >= before } == true)
        }
    }
}
