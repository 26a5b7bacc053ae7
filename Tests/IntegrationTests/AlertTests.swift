import Alerting
import Foundation
import HTTPClient
import Postgres
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("From attempts to an alert at its receiver")
    struct AlertTests {
        /// A minute's attempts through the API: FCM, `bad` of them provider errors.
        private func post(_ api: API, minutes: [(ago: Int, attempts: Int, bad: Int)], now: Timestamp) async throws {
            var batch: [[String: any Sendable]] = []
            for minute in minutes {
                let start = now.flooredToMinute() - .seconds(minute.ago * 60)
                for index in 0..<minute.attempts {
                    let attempt = SampleAttempt(
                        id: "m\(minute.ago)-\(index)",
                        at: start + .milliseconds(index * 400),
                        reason: index < minute.bad ? "provider_5xx" : nil
                    )
                    batch.append(attempt.json)
                }
            }
            for start in stride(from: 0, to: batch.count, by: 2_000) {
                let answer = try await api.post("/attempts", Array(batch[start..<min(start + 2_000, batch.count)]))
                #expect(answer.status == 200, "\(answer.text.prefix(500))")
            }
        }

        private let rule = "ProviderUnavailable"

        /// Posts history with a server that evaluates nothing.
        private func load(_ database: String, _ minutes: [(ago: Int, attempts: Int, bad: Int)], now: Timestamp) async throws {
            var configuration = ServerConfiguration.bare(database)
            configuration.roles = [.api]
            try await withServer(configuration) { url in
                let api = API(url: url, bearer: RunningServer.bootstrapKey)
                try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                try await post(api, minutes: minutes, now: now)
            }
        }

        /// A notifier that works until the hook has the alert.
        private func deliver(on pool: PostgresPool, to hook: AlertHook) async throws {
            let client = CurlClient(configuration: CurlClientConfiguration())
            let notifier = Notifier(
                pool: pool,
                receivers: ReceiverRegistry(fixed: [.webhook("webhook", url: hook.url, secret: nil)], logger: .silent),
                configuration: NotifierConfiguration(externalURL: "http://127.0.0.1"),
                logger: .silent,
                send: { try await client.send($0) }
            )
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await notifier.run() }
                defer { group.cancelAll() }
                try await eventually("the alert arrives") { hook.alerts(of: rule).count == 1 }
            }
        }

        private func full(_ database: String, webhook: String) -> ServerConfiguration {
            var configuration = ServerConfiguration.bare(database)
            configuration.alertsLag = .zero
            configuration.webhookURL = webhook
            return configuration
        }

        @Test("an FCM incident that goes on: the webhook gets the alert with its numbers, the API and the page show it")
        func firing() async throws {
            try await withDatabaseURL { database in
                let now = Timestamp.now()
                let healthy = (31...60).map { (ago: $0, attempts: 40, bad: 0) }
                let incident = (0...30).map { (ago: $0, attempts: 40, bad: 10) }
                try await load(database, healthy + incident.filter { $0.ago > 0 }, now: now)
                try await withAlertHook { hook in
                    try await withServer(full(database, webhook: hook.url)) { url in
                        let firing = try await eventually("the alert arrives") { hook.alerts(of: rule).first }
                        #expect(firing.status == "firing")
                        #expect(firing.labels["provider"] == "fcm")
                        #expect(firing.annotations["summary"]?.contains("25") == true, "\(firing.annotations)")
                        #expect(firing.annotations["meaning"]?.contains("600") == true, "\(firing.annotations)")
                        #expect(firing.annotations["action"]?.contains("Throttle non-critical sends") == true)
                        #expect(firing.annotations["runbook_url"]?.isEmpty == false)
                        let api = API(url: url, bearer: RunningServer.bootstrapKey)
                        let listed = try await api.get("/alerts")
                        #expect(listed.text.contains("ProviderUnavailable"), "\(listed.text.prefix(500))")
                        #expect(hook.alerts(of: rule).count == 1)
                    }
                }
            }
        }

        @Test("an incident that ended: firing was delivered, and after a restart the server finds the recovery and delivers it")
        func resolved() async throws {
            try await withDatabaseURL { database in
                let now = Timestamp.now()
                let minutes = (1...100).map { (ago: $0, attempts: 20, bad: (60...80).contains($0) ? 8 : 0) }
                try await load(database, minutes, now: now)
                try await withAlertHook { hook in
                    // As it was an hour ago: evaluated through the incident, then the server stopped.
                    try await withPool(database) { pool in
                        let evaluator = RuleEvaluator(
                            pool: pool,
                            rules: RuleRegistry(directory: ProjectDirectory.alerts, logger: .silent),
                            receivers: ReceiverRegistry(fixed: [.webhook("webhook", url: hook.url, secret: nil)], logger: .silent),
                            logger: .silent
                        )
                        let past = now.flooredToMinute() - .seconds(61 * 60)
                        try await evaluator.evaluate(through: past - .seconds(60))
                        try await evaluator.evaluate(through: past)
                        try await evaluator.release()
                        try await deliver(on: pool, to: hook)
                    }
                    try await withServer(full(database, webhook: hook.url)) { _ in
                        try await eventually("the recovery arrives") { hook.alerts(of: rule).contains { $0.status == "resolved" } }
                        #expect(hook.alerts(of: rule).map(\.status) == ["firing", "resolved"])
                        #expect(Set(hook.alerts(of: rule).map(\.startsAt)).count == 1)
                    }
                }
            }
        }
    }
}
