import Foundation
import HTTPClient
import Logging
import ProviderSimulator
import PushContract
import Synchronization
import TestSupport
import Testing

@testable import Providers

/// Wakes those that sleep by it when so many do, and from then on everybody at once.
private final class CrowdClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private let missing: Mutex<Int>
    private let gate = Gate()

    init(count: Int) { missing = Mutex(count) }

    var now: Instant { .now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { open() }
        await gate.wait()
    }

    func open() { gate.open() }
}

/// What connections do to requests, over real TLS and HTTP/2: none may be lost or doubled.
@Suite(.timeLimit(.minutes(2)))
struct ConnectionFaultTests {
    private func token(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 64 - digits.count) + digits
    }

    /// Sends to `count` tokens at once.
    private func burst(_ simulation: Simulation, by provider: any PushProvider, count: Int) async -> [PushOutcome] {
        await withTaskGroup(of: PushOutcome.self) { group in
            for number in 0..<count {
                group.addTask { await simulation.send(by: provider, token: token(number), attemptId: "attempt-\(number)") }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func accepted(_ simulation: Simulation) -> [String: Int] {
        simulation.simulator.requests(provider: .apns).filter { $0.status == 200 }.reduce(into: [:]) { $0[$1.token ?? "", default: 0] += 1 }
    }

    @Test("a peer that grants one stream until authorised gets one, and then many, with no stream refused")
    func oneStream() async throws {
        try await Simulation.run { simulation in
            simulation.simulator.setConnections(ConnectionConditions(oneStreamUntilAuthorised: true))
            let outcomes = await burst(simulation, by: try simulation.apns(), count: 200)
            #expect(outcomes.allSatisfy { $0.status == .sent }, "\(outcomes.first { $0.status != .sent }?.detail ?? "")")
            #expect(accepted(simulation).values.allSatisfy { $0 == 1 } && accepted(simulation).count == 200)
            #expect(simulation.simulator.statistics.total == 200)
        }
    }

    @Test("SETTINGS lowered and raised again under load are followed, and nothing is lost or doubled")
    func settings() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            for streams in [50, 2, 1000] {
                simulation.simulator.setConnections(ConnectionConditions(maxStreams: streams))
                let outcomes = await burst(simulation, by: provider, count: 150)
                #expect(outcomes.allSatisfy { $0.status == .sent }, "\(outcomes.first { $0.status != .sent }?.detail ?? "")")
            }
            #expect(accepted(simulation).values.allSatisfy { $0 == 3 })
        }
    }

    @Test("a refused stream is sent again at once and arrives once")
    func refusedStream() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            #expect(await simulation.send(by: provider).status == .sent)
            simulation.simulator.removeRequests()
            simulation.simulator.setFaults([FaultRule(provider: .apns, times: 5, effect: .refuseStream)])
            let outcomes = await burst(simulation, by: provider, count: 20)
            #expect(outcomes.allSatisfy { $0.status == .sent }, "\(outcomes.first { $0.status != .sent }?.detail ?? "")")
            #expect(accepted(simulation).values.allSatisfy { $0 == 1 } && accepted(simulation).count == 20)
        }
    }

    @Test("a graceful GOAWAY doubles nothing: what is under way is answered, the rest goes over a new connection")
    func graceful() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            simulation.simulator.setFaults([FaultRule(provider: .apns, share: 0.05, effect: .goaway)])
            let outcomes = await burst(simulation, by: provider, count: 200)
            #expect(outcomes.allSatisfy { $0.status == .sent }, "\(outcomes.first { $0.status != .sent }?.detail ?? "")")
            #expect(accepted(simulation).values.allSatisfy { $0 == 1 } && accepted(simulation).count == 200)
            // All of them may have been under way when the first GOAWAY came.
            #expect(await simulation.send(by: provider, attemptId: "later").status == .sent)
            #expect(simulation.simulator.statistics.connections["apns", default: 0] > 1)
        }
    }

    @Test("a GOAWAY that disowns every stream has them sent again at once on another connection")
    func abrupt() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            for count in [1, 30] {
                #expect(await simulation.send(by: provider).status == .sent)
                simulation.simulator.removeRequests()
                simulation.simulator.setFaults([FaultRule(provider: .apns, times: 1, effect: .goawayAbrupt)])
                let outcomes = await burst(simulation, by: provider, count: count)
                #expect(outcomes.allSatisfy { $0.status == .sent }, "\(count): \(outcomes.first { $0.status != .sent }?.detail ?? "")")
                simulation.simulator.setFaults([])
            }
        }
    }

    @Test("a stream reset after the request was read has an unknown outcome and is not sent again")
    func resetStream() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            simulation.simulator.setFaults([FaultRule(provider: .apns, times: 1, effect: .resetStream)])
            let outcome = await simulation.send(by: provider)
            #expect(outcome.outcomeUnknown && outcome.unansweredKind == .reset)
            #expect(outcome.classification == ReasonMapping.network)
            #expect(simulation.simulator.statistics.total == 1)
        }
    }

    @Test("a connection closed before the request, or with an expired certificate, is no unknown outcome")
    func beforeTheRequest() async throws {
        try await Simulation.run { simulation in
            let conditions = [ConnectionConditions(refusesConnections: true), ConnectionConditions(expiredCertificate: true)]
            for condition in conditions {
                simulation.simulator.setConnections(condition)
                let outcome = await simulation.send(by: try simulation.apns(timeout: .seconds(5)))
                #expect(outcome.status == .failed && !outcome.outcomeUnknown && outcome.unansweredKind == nil)
                #expect(outcome.classification == ReasonMapping.network)
            }
            #expect(simulation.simulator.statistics.total == 0)
        }
    }

    @Test("a provider that wants a client certificate refuses the credential: nothing was sent, and nothing else is sent until it is fixed")
    func clientCertificate() async throws {
        try await Simulation.run { simulation in
            simulation.simulator.setConnections(ConnectionConditions(requiresClientCertificate: true))
            let providers: [any PushProvider] = [try simulation.apns(timeout: .seconds(5)), try simulation.fcm()]
            for provider in providers {
                let outcome = await simulation.send(by: provider)
                #expect(outcome.classification == Classification(.auth, retry: .afterFix), "\(outcome.detail)")
                #expect(outcome.refusalScope == .credential && !outcome.outcomeUnknown)
            }
            #expect(simulation.simulator.statistics.total == 0)
        }
    }

    @Test("FCM's requests beyond the streams of a connection go over others, spread")
    func sharding() async throws {
        // No request is answered before all have arrived, however long that takes.
        let clock = CrowdClock(count: 300)
        try await Simulation.run {
            $0.clock = clock
        } _: { simulation in
            defer { clock.open() }
            simulation.simulator.setConnections(ConnectionConditions(maxStreams: 100))
            let provider = try simulation.fcm()
            #expect(await simulation.send(by: provider).status == .sent)
            simulation.simulator.removeRequests()
            simulation.simulator.setFaults([FaultRule(provider: .fcm, delayMs: 1000, effect: .delayOnly)])
            let outcomes = await withTaskGroup(of: PushOutcome.self) { group in
                for number in 0..<300 { group.addTask { await simulation.send(by: provider, token: "fcm-token-\(number):APA91bExample") } }
                return await group.reduce(into: [PushOutcome]()) { $0.append($1) }
            }
            #expect(outcomes.allSatisfy { $0.status == .sent }, "\(outcomes.first { $0.status != .sent }?.detail ?? "")")
            let byConnection = Dictionary(grouping: simulation.simulator.requests(provider: .fcm), by: \.connection).mapValues(\.count)
            #expect(byConnection.count >= 3)
            #expect(simulation.simulator.statistics.total == 300)
        }
    }

    @Test("a body that dribbles is waited for")
    func slowBody() async throws {
        try await Simulation.run { simulation in
            simulation.simulator.setFaults([FaultRule(provider: .fcm, delayMs: 200, effect: .slowBody)])
            let outcome = await simulation.send(by: try simulation.fcm())
            #expect(outcome.status == .sent && outcome.latency >= .milliseconds(150))
        }
    }

    @Test("APNs counts provider tokens a connection; ours never come too often")
    func tokenUpdates() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            for _ in 0..<6 {
                #expect(await simulation.send(by: provider).status == .sent)
                simulation.clock.advance(by: .seconds(15 * 60))
            }
            #expect(simulation.simulator.statistics.answers["apns"]?.keys.sorted() == ["200"])
        }
    }

    @Test("a rule can begin and end by time")
    func timed() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.apns()
            var rule = FaultRule(.apns, status: 503, reason: "ServiceUnavailable")
            rule.afterMs = 60_000
            rule.lastsMs = 60_000
            simulation.simulator.setFaults([rule])
            var statuses: [Int?] = []
            for _ in 0..<3 {
                statuses.append(await simulation.send(by: provider).httpStatus)
                simulation.clock.advance(by: .seconds(61))
            }
            #expect(statuses == [200, 503, 200])
        }
    }
}
