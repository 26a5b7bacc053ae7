import ProviderSimulator
import PushContract
import Testing

@testable import Providers

@Suite struct BroadcastTests {
    private static let scope = BroadcastScope(app: Samples.bundle, environment: .sandbox)

    @Test("a channel is created, listed and deleted; deleting it again is no fault")
    func manage() async throws {
        try await Simulation.run { simulation in
            let apns = try simulation.apns()
            let now = simulation.clock.now
            let first = try await apns.createChannel(.newest, in: Self.scope, now: now).get()
            let second = try await apns.createChannel(.none, in: Self.scope, now: now).get()
            #expect(first.id != second.id)
            let listed = try await apns.listChannels(in: Self.scope, now: now).get()
            #expect(Set(listed) == [first.id, second.id])
            try await apns.deleteChannel(first.id, in: Self.scope, now: now).get()
            try await apns.deleteChannel(first.id, in: Self.scope, now: now).get()
            #expect(simulation.simulator.channels(of: Samples.bundle) == [second.id])
            let created = try #require(simulation.simulator.requests(provider: .apns).first)
            #expect(created.path == "/1/apps/\(Samples.bundle)/channels")
            #expect(created.body == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
            #expect(created.status == 201)
        }
    }

    @Test("a broadcast has all it must have: channel, type, priority, an expiration by the channel's storage, no topic")
    func broadcast() async throws {
        try await Simulation.run { simulation in
            let apns = try simulation.apns()
            let now = simulation.clock.now
            for storage in BroadcastChannel.Storage.allCases {
                let channel = try await apns.createChannel(storage, in: Self.scope, now: now).get()
                simulation.simulator.removeRequests()
                let push = LiveActivityPushTests.push(at: now)
                let outcome = await apns.broadcast(push, to: channel, in: Self.scope, attemptId: "a", now: now)
                #expect(outcome.status == .sent, "\(outcome.detail)")
                #expect(outcome.providerMessageId == APNsMessageId.derive(from: "a"))
                let request = try #require(simulation.simulator.requests(provider: .apns).last)
                #expect(request.path == "/4/broadcasts/apps/\(Samples.bundle)")
                #expect(request.header("apns-channel-id") == channel.id)
                #expect(request.header("apns-expiration") == (storage == .none ? "0" : String(now.seconds + 8 * 3600)))
                #expect(request.header("apns-topic") == nil)
                #expect(request.body.contains(String(decoding: LiveActivityPushTests.state, as: UTF8.self)))
            }
        }
    }

    @Test("what a broadcast cannot be is not sent")
    func rejectedLocally() async throws {
        try await Simulation.run { simulation in
            let apns = try simulation.apns()
            let now = simulation.clock.now
            let channel = BroadcastChannel(id: "dGVzdA==", storage: .none)
            let start = LiveActivityPushTests.push(.start(LiveActivityPushTests.start)) { $0.alert = LiveActivityPushTests.alert }
            let late = LiveActivityPushTests.push { $0.expiresAt = $0.timestamp + .seconds(60) }
            let large = LiveActivityPushTests.push(state: Array(#"{"a":"\#(String(repeating: "x", count: 5120))"}"#.utf8))
            let codes = await [start, late, large].asyncMap {
                await apns.broadcast($0, to: channel, in: Self.scope, attemptId: "a", now: now).providerErrorCode
            }
            #expect(codes == ["InvalidPushType", "BadExpirationDate", "PayloadTooLarge"])
            for id in ["", " dGVzdA==", "dGVz dA=="] {
                let noChannel = BroadcastChannel(id: id, storage: .none)
                let unnamed = await apns.broadcast(LiveActivityPushTests.push(), to: noChannel, in: Self.scope, attemptId: "a", now: now)
                #expect(unnamed.providerErrorCode == "BadChannelId")
            }
            #expect(simulation.simulator.requests().isEmpty)
            // Broadcasts may be larger than pushes to one device.
            let wide = LiveActivityPushTests.push(state: Array(#"{"a":"\#(String(repeating: "x", count: 4500))"}"#.utf8))
            let known = try await apns.createChannel(.none, in: Self.scope, now: now).get()
            #expect(await apns.broadcast(wide, to: known, in: Self.scope, attemptId: "a", now: now).status == .sent)
        }
    }

    @Test("an unknown channel is a dead address, a full app needs room, a throttle waits")
    func refused() async throws {
        try await Simulation.run { simulation in
            let apns = try simulation.apns()
            let now = simulation.clock.now
            let gone = BroadcastChannel(id: "Z29uZQ==", storage: .none)
            let dead = await apns.broadcast(LiveActivityPushTests.push(at: now), to: gone, in: Self.scope, attemptId: "a", now: now)
            #expect(dead.classification == Classification(.tokenNotRegistered, retry: .never, token: .deactivate))
            #expect(dead.providerErrorCode == "ChannelNotRegistered")
            simulation.simulator.setFaults([
                FaultRule(.apns, status: 400, reason: "CannotCreateChannelConfig", times: 1), FaultRule(.apns, status: 429),
            ])
            guard case .failure(let full) = await apns.createChannel(.none, in: Self.scope, now: now) else {
                Issue.record("a full app got a channel")
                return
            }
            #expect(full.isFull && full.outcome.retryClass == .afterFix)
            #expect(simulation.simulator.channels(of: Samples.bundle).isEmpty)
            guard case .failure(let slow) = await apns.listChannels(in: Self.scope, now: now) else {
                Issue.record("a throttled request succeeded")
                return
            }
            #expect(slow.outcome.isThrottled && slow.outcome.retryClass == .backoff)
        }
    }

    @Test("the simulator itself keeps to the number of channels, and forgets all when the capability goes")
    func limit() async throws {
        try await Simulation.run(change: { $0.channelLimit = 1 }) { simulation in
            let apns = try simulation.apns()
            let now = simulation.clock.now
            _ = try await apns.createChannel(.none, in: Self.scope, now: now).get()
            guard case .failure(let full) = await apns.createChannel(.none, in: Self.scope, now: now) else {
                Issue.record("a channel too many")
                return
            }
            #expect(full.isFull)
            simulation.simulator.removeChannels(of: Samples.bundle)
            #expect(try await apns.listChannels(in: Self.scope, now: now).get() == [])
        }
    }

    @Test("Apple manages channels at hosts of their own; a stand-in does all at one")
    func hosts() {
        let apple = APNsConfiguration(teamId: "", keyId: "", privateKey: "")
        #expect(apple.channelEndpoints[.production] == "https://api-manage-broadcast.push.apple.com:2196")
        #expect(apple.channelEndpoints[.sandbox] == "https://api-manage-broadcast.sandbox.push.apple.com:2195")
        let other = APNsConfiguration(teamId: "", keyId: "", privateKey: "", endpoints: [.sandbox: "https://localhost:1"])
        #expect(other.channelEndpoints == [.sandbox: "https://localhost:1"])
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async -> Value) async -> [Value] {
        var values: [Value] = []
        for element in self { values.append(await transform(element)) }
        return values
    }
}
