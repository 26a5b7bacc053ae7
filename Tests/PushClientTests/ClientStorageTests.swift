import Foundation
import PushClient
import PushContract
import Synchronization
import Testing

@Suite("What the client stores, and when it works")
struct ClientStorageTests {
    private let token = String(repeating: "ab", count: 32)

    /// A keychain that stores nothing, as on a locked device.
    private struct LockedKeychain: SecretStorage {
        struct Failure: Error {}
        let stored: MemoryStorage

        func secret(of uid: String) -> String? { stored.secret(of: uid) }
        func setSecret(_ secret: String?, of uid: String) throws { throw Failure() }
    }

    private final class CountingStorage: PushStorage {
        let stored = MemoryStorage()
        private let count = Mutex(0)

        var saves: Int { count.withLock { $0 } }

        func load() -> [UInt8]? { stored.load() }

        func save(_ bytes: [UInt8]) {
            count.withLock { $0 += 1 }
            stored.save(bytes)
        }
    }

    /// A clock that stands still, and ends the task that sleeps by it.
    private final class OneSleep: Clock {
        let now = ContinuousClock.now
        let minimumResolution = Duration.zero
        private let slept = Mutex<[Duration]>([])

        var sleeps: [Duration] { slept.withLock { $0 } }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            slept.withLock { $0.append(deadline - now) }
            withUnsafeCurrentTask { $0?.cancel() }
        }
    }

    private func client(
        _ bench: ClientBench,
        storage: any PushStorage,
        secrets: any SecretStorage,
        events: @escaping @Sendable (ClientEvent) -> Void = { _ in }
    ) -> PushwatchClient {
        PushwatchClient(
            device: PushDevice(deviceId: "device", app: "a", osVersion: "18.2", appVersion: "1"),
            system: bench.system,
            transport: bench.transport,
            storage: storage,
            secrets: secrets,
            now: { bench.now },
            events: events
        )
    }

    @Test("an unregistration of a version that knew nothing of keepsFollows is read as one that does not keep them")
    func olderOperation() throws {
        let kind = try JSONDecoder().decode(OperationKind.self, from: Data(#"{"unregister": {}}"#.utf8))
        #expect(kind == .unregister())
    }

    @Test("a secret that the keychain did not take is reported, and an older one is not used: the session unregisters")
    func secretNotStored() async {
        let bench = ClientBench()
        let reported = Mutex<[ClientEvent]>([])
        let keychain = LockedKeychain(stored: bench.storage)
        let client = client(bench, storage: bench.storage, secrets: keychain) { event in reported.withLock { $0.append(event) } }
        bench.storage.setSecret("pwd_old", of: "ann")
        await client.launch()
        await client.signedIn(uid: "ann")
        await client.pushTokenReceived(token)
        await client.signOut()
        let last = bench.transport.sent.last
        #expect(reported.withLock { $0 } == [.secretNotSaved(uid: "ann")])
        #expect(last?.method == "DELETE" && last?.credential == .session(uid: "ann"))
        #expect(await client.operations.isEmpty)
    }

    @Test("what waits for an event is neither attempted nor stored by the clock")
    func waitsForAnEvent() async {
        let bench = ClientBench()
        let storage = CountingStorage()
        bench.transport.answer = { _ in nil }
        let first = client(bench, storage: storage, secrets: bench.storage)
        await first.launch()
        await first.signedIn(uid: "ann")
        await first.pushTokenReceived(token)
        bench.advance(by: 100)
        // Started again, the system has not provided the token yet.
        let second = client(bench, storage: storage, secrets: bench.storage)
        await second.launch()
        await second.signedIn(uid: "ann")
        #expect(await second.nextWork.map { $0 <= bench.now } == true)
        await second.work()
        let (saves, sent, clock) = (storage.saves, bench.transport.sent.count, OneSleep())
        await Task { await second.run(clock: clock) }.value
        #expect(clock.sleeps == [.seconds(60)])
        #expect(storage.saves == saves && bench.transport.sent.count == sent)
    }

    @Test("between attempts it sleeps until the next one")
    func sleepsUntilTheNextAttempt() async {
        let bench = ClientBench()
        bench.transport.answer = { _ in nil }
        let client = client(bench, storage: bench.storage, secrets: bench.storage)
        await client.launch()
        await client.signedIn(uid: "ann")
        await client.pushTokenReceived(token)
        let clock = OneSleep()
        await Task { await client.run(clock: clock) }.value
        #expect(clock.sleeps == [.seconds(5)])
    }
}
