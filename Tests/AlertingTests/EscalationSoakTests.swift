import AlertRules
import Foundation
import HTTPClient
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Alerting

/// How long `scripts/soak.sh escalation` runs the long form of the fault test: real connections, real time, and notifiers that are killed.
private let soakMinutes = ProcessInfo.processInfo.environment["PUSHWATCH_SOAK_MINUTES"].flatMap(Double.init)

@Suite("Escalation over real HTTP, for long", .enabled(if: soakMinutes != nil), .serialized)
struct EscalationSoakTests {
    private typealias Fault = EscalationTests.Fault

    @Test(
        "a working receiver has the page within 63 s whatever else is broken and killed; no page after the end, nothing twice unless its answer was lost"
    )
    func soak() async throws {
        let end = ContinuousClock.now + .seconds((soakMinutes ?? 0) * 60)
        var rounds = 0
        try await withDatabase { pool in
            while ContinuousClock.now < end || rounds < 3 {
                try await round(pool)
                rounds += 1
            }
        }
        print("escalation: \(rounds) rounds")
    }

    private func round(_ pool: PostgresPool) async throws {
        let hooks = (0..<3).map { _ in Hook() }
        let failing = Hook(checking: { _ in Hook.Answer(status: 500) })
        try await withHook(hooks[0]) { a in
            try await withHook(hooks[1]) { b in
                try await withHook(hooks[2]) { c in
                    try await withHook(failing) { broken in
                        try await check(pool, hooks, urls: [a, b, c], broken: broken)
                    }
                }
            }
        }
    }

    private func check(_ pool: PostgresPool, _ hooks: [Hook], urls: [String], broken: String) async throws {
        let faults = urls.map { _ in Bool.random() ? nil : Fault.allCases.randomElement() }
        let round = UUID().uuidString.prefix(8)
        let names = ["a", "b", "c"].map { "\($0)-\(round)" }
        let receivers = zip(names, zip(urls, faults)).compactMap { name, place -> ReceiverConfiguration? in
            switch place.1 {
            case nil: .webhook(name, url: place.0)
            case .refused: .webhook(name, url: "http://127.0.0.1:1/hook")
            case .hanging: .webhook(name, url: place.0.replacing("/hook", with: "/silent"))
            case .serverError: .webhook(name, url: broken)
            case .unknown: nil
            }
        }
        let policy = EscalationPolicy(
            unconfirmedAfter: .seconds(3),
            unacknowledgedAfter: .seconds(3600),
            steps: [.init(receivers: [names[1]]), .init(receivers: [names[2]])]
        )
        let set = ReceiverSet(receivers: receivers, routes: [AlertRoute(receivers: [names[0]])], escalation: policy)
        let id = try await TestNotification.fire(receivers: [names[0]], severity: .page, recording: .test("t"), on: pool)
        try await pool.execute("UPDATE alerts SET rule = \(id.uuidString) WHERE alertId = \(id)")
        let fired = ContinuousClock.now
        var kills = 0
        let paged: @Sendable () -> Bool = { hooks.contains { !$0.got.isEmpty } }
        while !paged(), ContinuousClock.now - fired < .seconds(faults.contains(nil) ? 63 : 12) {
            kills += 1
            try await run(pool, set, for: .milliseconds(Int.random(in: 200...6000)), until: paged)
        }
        #expect(paged() == faults.contains(nil), "\(faults)")
        let now = Timestamp.now()
        try await TestNotification.resolve(id, at: now, on: pool)
        let before = hooks.map { $0.got.count { $0.status == "firing" } }
        // What was being sent when a notifier was killed is claimed again after eleven seconds.
        try await run(pool, set, for: .seconds(30)) { hooks.allSatisfy { $0.got.isEmpty || $0.got.last?.status == "resolved" } }
        try await run(pool, set, for: .seconds(1), until: { false })
        // A message that was being sent when the notifier was killed may come a second time.
        for (hook, count) in zip(hooks, before) {
            #expect(hook.got.count { $0.status == "firing" } <= max(count, 1) && hook.got.count <= kills + 2, "\(faults)")
            #expect(hook.got.isEmpty || hook.got.last?.status == "resolved", "\(faults)")
        }
    }

    /// A notifier until it is killed, and its lease until it has expired.
    private func run(
        _ pool: PostgresPool,
        _ set: ReceiverSet,
        for time: Duration,
        until isDone: @escaping @Sendable () -> Bool
    ) async throws {
        let notifier = Notifier(
            pool: pool,
            receivers: ReceiverRegistry(set, logger: .silent),
            configuration: NotifierConfiguration(
                externalURL: "http://localhost",
                pollInterval: .milliseconds(50),
                leaseDuration: .seconds(1),
                claimDuration: .seconds(11)
            ),
            logger: .silent,
            send: TestHTTP().send
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await notifier.run() }
            let end = ContinuousClock.now + time
            while ContinuousClock.now < end, !isDone() { try await Task.sleep(for: .milliseconds(50)) }
            group.cancelAll()
        }
    }
}
