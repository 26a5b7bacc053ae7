import Delivery
import Postgres
import PushContract
import ServiceKit
import Testing

/// What must hold whatever devices and users do at the same time.
@Suite("The registry under concurrency")
struct RegistryPropertyTests {
    /// One thing an app does.
    private enum Step: Sendable {
        case register(user: Int, device: Int, token: Int)
        case start(user: Int, device: Int, token: Int)
        case unregister(user: Int, device: Int)
        case secret(device: Int, secret: UnregisterSecret)

        static func random(_ random: inout some RandomNumberGenerator, secret: UnregisterSecret) -> Step {
            let (user, device) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5: return .register(user: user, device: device, token: Int.random(in: 0..<4, using: &random))
            case 5..<8: return .start(user: user, device: device, token: Int.random(in: 0..<4, using: &random))
            case 8: return .unregister(user: user, device: device)
            default: return .secret(device: device, secret: secret)
            }
        }
    }

    private func perform(_ step: Step, on bench: RegistryBench, secret: UnregisterSecret) async throws {
        switch step {
        case .register(let user, let device, let token):
            try await bench.register("user-\(user)", "device-\(device)", token: token, secret: secret)
        case .start(let user, let device, let token):
            // An unknown device is refused; that is not a fault here.
            do {
                try await bench.registerStart("user-\(user)", "device-\(device)", start: token)
            } catch let error as PostgresError {
                throw PostgresError(.decoding, "a start token could not be stored: \(error)")
            } catch {}
        case .unregister(let user, let device):
            _ = try await bench.store.unregister(
                userId: "user-\(user)",
                deviceId: "device-\(device)",
                requestId: RegistryBench.requestId(),
                now: bench.clock.now
            )
        case .secret(let device, let secret):
            _ = try await bench.store.unregister(
                deviceId: "device-\(device)",
                secretHash: secret.hash,
                requestId: RegistryBench.requestId(),
                now: bench.clock.now
            )
        }
    }

    @Test(
        "A2: register, rotate, move and unregister at once, in any order, leave no stray row and no token with two owners",
        arguments: 1...6
    )
    func invariants(seed: UInt64) async throws {
        try await RegistryBench.with { bench in
            var random = SplitMix64(seed: seed)
            let secret = UnregisterSecret.generate()
            for _ in 0..<6 {
                let steps = (0..<16).map { _ in Step.random(&random, secret: secret) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for step in steps { group.addTask { try await perform(step, on: bench, secret: secret) } }
                    try await group.waitForAll()
                }
                let facts = try await bench.pool.query(
                    """
                    SELECT count(*) - count(DISTINCT (userId, deviceId)),
                        count(*) FILTER (WHERE tokenState <> 'inactive')
                            - count(DISTINCT (pushTokenHash, app)) FILTER (WHERE tokenState <> 'inactive'),
                        count(*) FILTER (WHERE pushToStartTokenState <> 'inactive')
                            - count(DISTINCT (pushToStartTokenHash, app)) FILTER (WHERE pushToStartTokenState <> 'inactive'),
                        count(*) FILTER (WHERE pushToStartTokenState <> 'inactive' AND pushToStartToken IS NULL),
                        count(*) FILTER (WHERE tokenState = 'inactive' AND pushToStartTokenState <> 'inactive' AND tokenStateCause = 'moved'
                            AND pushToStartRegisteredAt < tokenStateSince),
                        count(*) FILTER (WHERE pushToken NOT LIKE 'encrypted:%' OR pushToStartToken NOT LIKE 'encrypted:%')
                    FROM devices
                    """
                )
                let found = try facts[0].decode((Int, Int, Int, Int, Int, Int).self)
                #expect(found == (0, 0, 0, 0, 0, 0), "rows, owners, start owners, lost start tokens, left behind, clear: \(found)")
                bench.clock.advance(by: .seconds(1))
            }
        }
    }

    @Test("A2: many parallel registrations of k devices leave exactly k rows, each with the attempts of all; pushes reach all of them")
    func parallel() async throws {
        try await RegistryBench.with { bench in
            let (devices, rounds) = (5, 8)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<devices * rounds {
                    group.addTask { try await bench.register("ann", "device-\(number % devices)", token: number % devices) }
                }
                try await group.waitForAll()
            }
            #expect(try await bench.count("devices") == devices)
            #expect(try await bench.count("devices WHERE tokenState = 'active'") == devices)
            #expect(try await bench.pushTargets(of: ["ann"]).map(\.deviceId) == (0..<devices).map { "device-\($0)" })
            #expect(try await bench.count("notificationDeliveryAttempts WHERE eventType = 'register'") == devices * rounds)
        }
    }

    @Test("two users fight over one phone: whoever is last has both tokens, the other none")
    func tugOfWar() async throws {
        try await RegistryBench.with { bench in
            try await bench.register("user-0", "phone", token: 1)
            try await bench.registerStart("user-0", "phone", start: 1)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 { group.addTask { try await bench.register("user-\(number % 2)", "phone", token: 1) } }
                try await group.waitForAll()
            }
            let push = try await bench.pushTargets(of: ["user-0", "user-1"]).map(\.userId)
            #expect(push.count == 1)
            #expect(try await bench.starts(of: ["user-0", "user-1"]).map(\.userId) == push)
        }
    }
}
