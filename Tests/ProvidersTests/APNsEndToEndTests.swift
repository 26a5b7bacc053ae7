import Foundation
import ProviderSimulator
import Providers
import PushContract
import ServiceKit
import Testing

@Suite struct APNsEndToEndTests {
    @Test("a push of each type is accepted as the simulator checks it, with its apns-id")
    func accepted() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            let message = PushMessage(
                title: "T",
                body: "B",
                data: ["a": .string("b")],
                collapseId: "c",
                expiresAt: simulation.clock.now + .seconds(60)
            )
            let outcome = await simulation.send(message, by: provider)
            #expect(outcome.status == .sent, "\(outcome.detail)")
            #expect(outcome.httpStatus == 200)
            #expect(outcome.latency > .zero)
            let request = try #require(simulation.simulator.requests(provider: .apns).first)
            #expect(request.header("apns-id") == outcome.providerMessageId?.lowercased())
            #expect(outcome.hasDerivedMessageId)
            for type in APNsPushType.allCases where type != .liveactivity {
                let shown = type == .background ? PushMessage(pushType: type) : PushMessage(body: "B", pushType: type)
                let outcome = await simulation.send(shown, by: provider)
                #expect(outcome.status == .sent, "\(type.rawValue): \(outcome.detail)")
            }
        }
    }

    @Test("answers become outcomes: 410 with its time, 403, 503 with Retry-After, 429, the other environment's token")
    func refused() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            func token(_ digit: String) -> String { String(repeating: digit, count: 64) }
            simulation.simulator.setToken(token("1"), ScriptedToken(dead: true, since: 1_700_000_000_123))
            simulation.simulator.setToken(token("2"), ScriptedToken(environment: .production))
            simulation.simulator.setFaults([
                FaultRule(.apns, status: 403, reason: "InvalidProviderToken", tokens: [token("3")]),
                FaultRule(.apns, status: 503, reason: "ServiceUnavailable", tokens: [token("4")], retryAfter: 30),
                FaultRule(.apns, status: 429, reason: "TooManyRequests", tokens: [token("5")]),
            ])
            let dead = await simulation.send(by: provider, token: token("1"))
            #expect(dead.classification == Classification(.tokenNotRegistered, retry: .never, token: .deactivate))
            #expect(dead.tokenInvalidSince == Timestamp(microseconds: 1_700_000_000_123_000))
            let other = await simulation.send(by: provider, token: token("2"))
            #expect(other.providerErrorCode == "BadDeviceToken")
            #expect(other.tokenAction == .suspect)
            let forbidden = await simulation.send(by: provider, token: token("3"))
            #expect(forbidden.classification == Classification(.auth, retry: .afterFix))
            let away = await simulation.send(by: provider, token: token("4"))
            #expect(away.classification == Classification(.provider5xx, retry: .backoff))
            #expect(away.retryAfter == .seconds(30))
            let throttled = await simulation.send(by: provider, token: token("5"))
            #expect(throttled.isThrottled && throttled.tokenAction == TokenAction.none)
        }
    }

    @Test("what APNs would refuse is not sent")
    func preflight() async throws {
        try await Simulation.run { simulation in
            let outcome = await simulation.send(PushMessage(body: String(repeating: "x", count: 5000)), by: try simulation.apns())
            #expect(outcome.providerErrorCode == "PayloadTooLarge")
            #expect(outcome.classification == Classification(.unknown, retry: .never))
            #expect(outcome.httpStatus == nil)
            #expect(simulation.simulator.requests().isEmpty)
        }
    }

    @Test("one provider token serves 45 minutes, then another")
    func renewal() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            for minutes in [0, 44, 2, 30] {
                simulation.clock.advance(by: .seconds(minutes * 60))
                let outcome = await simulation.send(by: provider)
                #expect(outcome.status == .sent, "\(outcome.detail)")
            }
            let used = simulation.simulator.requests(provider: .apns).map { $0.header("authorization") ?? "" }
            #expect(used[0] == used[1])
            #expect(used[1] != used[2])
            #expect(used[2] == used[3])
        }
    }

    @Test("a provider token is renewed by the time that has passed, although the clock was set back")
    func renewalAfterClockChange() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            #expect(await simulation.send(by: provider).status == .sent)
            simulation.clock.advance(by: .seconds(44 * 60))
            simulation.clock.set(back: .seconds(44 * 60))
            #expect(await simulation.send(by: provider).status == .sent)
            simulation.clock.advance(by: .seconds(60))
            _ = await simulation.send(by: provider)
            let used = simulation.simulator.requests(provider: .apns).map { $0.header("authorization") ?? "" }
            #expect(used[0] == used[1] && used[1] != used[2])
        }
    }

    @Test("a provider token called expired is refused on its connection alone if it is young, else replaced, once")
    func expired() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            #expect(await simulation.send(by: provider).status == .sent)
            let fault = FaultRule(.apns, status: 403, reason: "ExpiredProviderToken", times: 1)
            simulation.simulator.setFaults([fault])
            simulation.simulator.removeRequests()
            let young = await simulation.send(by: provider)
            #expect(young.status == .sent, "\(young.detail)")
            let repeated = simulation.simulator.requests(provider: .apns)
            #expect(repeated.map(\.status) == [403, 200])
            #expect(Set(repeated.map(\.connection)).count == 2)
            #expect(Set(repeated.map { $0.header("authorization") ?? "" }).count == 1)
            simulation.clock.advance(by: .seconds(25 * 60))
            simulation.simulator.setFaults([fault])
            simulation.simulator.removeRequests()
            let old = await simulation.send(by: provider)
            #expect(old.status == .sent, "\(old.detail)")
            let requests = simulation.simulator.requests(provider: .apns)
            #expect(requests.map(\.status) == [403, 200])
            #expect(Set(requests.map(\.connection)).count == 2)
            #expect(Set(requests.map { $0.header("authorization") ?? "" }).count == 2)
            #expect(Set(requests.map { $0.header("apns-id") ?? "" }).count == 1)
            simulation.clock.advance(by: .seconds(25 * 60))
            simulation.simulator.setFaults([FaultRule(.apns, status: 403, reason: "ExpiredProviderToken")])
            let twice = await simulation.send(by: provider)
            #expect(twice.classification == Classification(.auth, retry: .afterFix))
            #expect(simulation.simulator.requests(provider: .apns).map(\.status) == [403, 200, 403, 403])
        }
    }

    @Test("a topic that is disallowed on an old connection is tried once on a new one: the app may have been added to the team since")
    func disallowedTopic() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns { $0.trustedConnectionAge = .zero }
            #expect(await simulation.send(by: provider).status == .sent)
            simulation.simulator.removeRequests()
            simulation.simulator.setFaults([FaultRule(.apns, status: 400, reason: "TopicDisallowed", times: 1)])
            let added = await simulation.send(by: provider)
            #expect(added.status == .sent, "\(added.detail)")
            let requests = simulation.simulator.requests(provider: .apns)
            #expect(requests.map(\.status) == [400, 200] && Set(requests.map(\.connection)).count == 2)
            simulation.simulator.removeRequests()
            simulation.simulator.setFaults([FaultRule(.apns, status: 400, reason: "TopicDisallowed")])
            let wrong = await simulation.send(by: provider)
            #expect(wrong.classification == Classification(.auth, retry: .afterFix) && wrong.refusalScope == .topic)
            #expect(simulation.simulator.requests(provider: .apns).count == 2)
            // On a young connection it is the topic's fault.
            simulation.simulator.removeRequests()
            #expect(await simulation.send(by: try simulation.apns()).refusalScope == .topic)
            #expect(simulation.simulator.requests(provider: .apns).count == 1)
        }
    }

    @Test("a young token that APNs calls expired on two connections is a clock fault, refused as a credential is")
    func clockFault() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            #expect(await simulation.send(by: provider).status == .sent)
            simulation.simulator.removeRequests()
            simulation.simulator.setFaults([FaultRule(.apns, status: 403, reason: "ExpiredProviderToken")])
            let outcome = await simulation.send(by: provider)
            #expect(outcome.classification == Classification(.auth, retry: .afterFix))
            #expect(outcome.refusalScope == .credential)
            #expect(outcome.detail.contains("clock is wrong"))
            let requests = simulation.simulator.requests(provider: .apns)
            #expect(requests.count == 2 && Set(requests.map(\.connection)).count == 2)
        }
    }

    @Test("of many pushes that wait the first is repeated before the others are refused, too")
    func repeatedFirst() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            simulation.simulator.setFaults([FaultRule(.apns, status: 403, reason: "ExpiredProviderToken")])
            await withTaskGroup(of: Void.self) { group in
                for number in 1...15 {
                    group.addTask {
                        #expect(await simulation.send(by: provider, attemptId: "attempt-\(number)").refusalScope == .credential)
                    }
                }
            }
            var seen: Set<String> = []
            let first = simulation.simulator.requests(provider: .apns).firstIndex { !seen.insert($0.header("apns-id") ?? "").inserted }
            #expect(try #require(first) < 8)
        }
    }

    @Test("a push to APNs that is never answered is network, with an unknown outcome")
    func hang() async throws {
        try await Simulation.run { simulation in
            simulation.simulator.setFaults([FaultRule(provider: .apns, effect: .hang)])
            let outcome = await simulation.send(by: try simulation.apns(timeout: .seconds(5)))
            #expect(outcome.outcomeUnknown)
            #expect(outcome.classification == ReasonMapping.network)
            #expect(outcome.httpStatus == nil)
            #expect(simulation.simulator.requests(provider: .apns).count == 1)
        }
    }

    @Test("a server that cannot prove itself gets nothing")
    func distrusted() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "providers-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { _, other in
            try await Simulation.run { simulation in
                let outcome = await simulation.send(by: try simulation.apns(trust: other.caFile))
                #expect(outcome.classification == ReasonMapping.network)
                #expect(!outcome.outcomeUnknown)
                #expect(simulation.simulator.requests().isEmpty)
            }
        }
    }
}
