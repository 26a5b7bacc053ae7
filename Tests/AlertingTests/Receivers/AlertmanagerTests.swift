import AlertRules
import Foundation
import HTTPClient
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Alerting

@Suite("Alertmanager, the real one", .enabled(if: RealAlertmanager.isInstalled, RealAlertmanager.absence))
struct AlertmanagerTests {
    private struct Parts: Sendable {
        var pool: PostgresPool
        var clock: ManualClock
        var notifier: Notifier
        var service: AlertmanagerResender
        var url: String
        var hook: Hook
        let client = TestHTTP()

        /// The names of the alerts that are active there.
        func active() async throws -> [String] {
            let response = try await client.send(OutboundRequest(method: "GET", url: url + "/api/v2/alerts?active=true"))
            let alerts = try #require(JSONSerialization.jsonObject(with: Data(response.body)) as? [[String: Any]])
            return alerts.compactMap { ($0["labels"] as? [String: String])?["alertname"] }
        }

        /// The next notification of Alertmanager to its own receiver.
        func next() async -> String? {
            for await message in hook.messages { return message.status }
            return nil
        }
    }

    private func withAlertmanager(_ body: @Sendable @escaping (Parts) async throws -> Void) async throws {
        try await withDatabase { pool in
            let hook = Hook()
            try await withHook(hook) { hookURL in
                let alertmanager = try RealAlertmanager(hook: hookURL)
                defer { withExtendedLifetime(alertmanager) {} }
                let clock = ManualClock()
                // The second member is down: one that takes it is enough.
                let cluster = AlertmanagerCluster(members: [alertmanager.url, "http://127.0.0.1:1"])
                let receivers = [ReceiverConfiguration(AlertmanagerReceiver(name: "am", cluster: cluster))]
                try await fireOnce(pool, receivers: receivers, clock: clock)
                let client = TestHTTP()
                let service = AlertmanagerResender(
                    pool: pool,
                    receivers: ReceiverRegistry(fixed: receivers, logger: .silent),
                    externalURL: "https://push.example.org",
                    logger: .silent,
                    now: { clock.now },
                    send: client.send
                )
                let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock, send: client.send)
                try await body(Parts(pool: pool, clock: clock, notifier: notifier, service: service, url: alertmanager.url, hook: hook))
            }
        }
    }

    @Test("an alert appears, stays while its notification is repeated, and resolves once when it ends")
    func lifecycle() async throws {
        try await withAlertmanager { (parts: Parts) async throws -> Void in
            parts.clock.set(.now())
            #expect(try await parts.notifier.deliverDue() == 1)
            #expect(await parts.next() == "firing")
            #expect(try await parts.active() == ["ProviderUnavailable"])
            #expect(await parts.service.resend() == 1)
            try await resolve(parts.pool)
            // The end waits in the outbox: telling "firing" now would be wrong, telling "resolved" is the notifier's.
            #expect(await parts.service.resend() == 0)
            parts.clock.set(.now())
            #expect(try await parts.notifier.deliverDue() == 1)
            #expect(await parts.next() == "resolved")
            #expect(try await parts.active() == [])
            #expect(await parts.service.resend() == 1)
            #expect(try await parts.active() == [])
            #expect(parts.hook.got.map(\.status) == ["firing", "resolved"])
            // A quarter of an hour later all members have it.
            parts.clock.advance(.seconds(16 * 60))
            #expect(await parts.service.resend() == 0)
        }
    }

    @Test("an outage of ours of 14 minutes resolves nothing; 16 minutes would")
    func outage() async throws {
        try await withAlertmanager { (parts: Parts) async throws -> Void in
            // Posted for the last time 16 minutes ago: expired by now.
            parts.clock.set(.now() - .seconds(16 * 60))
            try await parts.notifier.deliverDue()
            #expect(try await parts.active() == [])
            // Posted for the last time 14 minutes ago: still there.
            parts.clock.set(.now() - .seconds(14 * 60))
            #expect(await parts.service.resend() == 1)
            #expect(try await parts.active() == ["ProviderUnavailable"])
            #expect(await parts.next() == "firing")
            #expect(parts.hook.got.map(\.status) == ["firing"])
        }
    }

    @Test("while the database is unreachable what fired is repeated, marked as stale, and ends only when an end is seen")
    func databaseAway() async throws {
        try await withAlertmanager { (parts: Parts) async throws -> Void in
            parts.clock.set(.now())
            let searchedAt = parts.clock.now
            try await parts.notifier.deliverDue()
            #expect(await parts.service.resend() == 1)
            try await parts.pool.execute("ALTER TABLE notifications RENAME TO away")
            parts.clock.advance(.seconds(60))
            #expect(await parts.service.resend() == 1)
            let response = try await parts.client.send(OutboundRequest(method: "GET", url: parts.url + "/api/v2/alerts"))
            let alerts = try #require(JSONSerialization.jsonObject(with: Data(response.body)) as? [[String: Any]])
            #expect((alerts.first?["annotations"] as? [String: String])?["stale_since"] == searchedAt.rfc3339)
            try await parts.pool.execute("ALTER TABLE away RENAME TO notifications")
            #expect(await parts.service.resend() == 1)
            #expect(try await parts.active() == ["ProviderUnavailable"])
        }
    }

    private func resolve(_ pool: PostgresPool) async throws {
        let clock = ManualClock((Traffic.start + 60).timestamp + .seconds(60))
        try await expireLeases("evaluator", on: pool)
        try await RuleEvaluator.forTest(pool, clock: clock).evaluate(minutes: 60)
    }
}

@Suite("Repeated notifications to Alertmanager")
struct AlertmanagerResenderTests {
    @Test("an alert that ends while it is being sent as firing is sent as resolved right after")
    func race() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let receivers = [ReceiverConfiguration(AlertmanagerReceiver(name: "am", cluster: AlertmanagerCluster(members: ["http://am"])))]
            try await fireOnce(pool, receivers: receivers, clock: clock)
            let posted = Mutex<[String]>([])
            let record: @Sendable (OutboundRequest) throws -> OutboundResponse = { request in
                let alerts = try JSONSerialization.jsonObject(with: Data(request.body)) as? [[String: Any]]
                let end = Timestamp(rfc3339: alerts?.first?["endsAt"] as? String ?? "") ?? .now()
                posted.withLock { $0.append(end > clock.now ? "firing" : "resolved") }
                return OutboundResponse(status: 200)
            }
            let notifier = Notifier.forTest(pool, receivers: receivers, clock: clock) { try record($0) }
            try await notifier.deliverDue()
            let service = AlertmanagerResender(
                pool: pool,
                receivers: ReceiverRegistry(fixed: receivers, logger: .silent),
                externalURL: "https://push.example.org",
                logger: .silent,
                now: { clock.now }
            ) { request in
                if posted.withLock({ $0.count }) == 1 {
                    clock.set((Traffic.start + 60).timestamp + .seconds(60))
                    try await expireLeases("evaluator", on: pool)
                    try await RuleEvaluator.forTest(pool, clock: clock).evaluate(minutes: 60)
                    try await notifier.deliverDue()
                    posted.withLock { $0.append("firing, late") }
                    return OutboundResponse(status: 200)
                }
                return try record(request)
            }
            await service.resend()
            #expect(posted.withLock { $0 } == ["firing", "resolved", "firing, late", "resolved"])
        }
    }
}
