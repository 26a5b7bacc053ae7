import Postgres
import ProviderSimulator
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("A refused credential and its alert")
    struct OpenCircuitTests {
        private static let count = 12
        private static let alert = "PushAuthFailing"

        @Test("when Apple refuses the credentials sends are blocked, and after ten minutes PushAuthFailing arrives, once")
        func pages() async throws {
            try await withAlertHook { hook in
                var sending: ServerConfiguration?
                func adjust(_ configuration: inout ServerConfiguration) {
                    configuration.roles = [.api, .send]
                    configuration.sendRetryBase = nil
                    sending = configuration
                }
                try await withServer(adjust: adjust) { server in
                    server.simulator.setFaults([FaultRule(.apns, status: 403, reason: "InvalidProviderToken")])
                    let registered = try await server.asUser("ada").post(
                        "/devices",
                        [
                            "deviceId": "phone", "pushToken": String(repeating: "5a", count: 32), "platform": "ios",
                            "environment": "sandbox", "app": SendTests.app,
                        ]
                    )
                    #expect(registered.status == 200, "\(registered.text)")
                    for number in 1...Self.count {
                        let answer = try await server.api.post("/sends", ["sendId": "s\(number)", "deviceId": "phone", "title": "x"])
                        #expect(answer.status == 202, "\(answer.text)")
                    }
                    for number in 1...Self.count {
                        try await eventually("send \(number) is blocked") {
                            try await server.api.get("/sends/s\(number)").json["state"] as? String == "blocked"
                        }
                    }
                    // Ten minutes pass: the refusal is as old as that, and nothing else has happened.
                    try await server.pool.execute("UPDATE pushCircuits SET since = since - interval '11 minutes'")
                    var alerting = try #require(sending)
                    alerting.roles = [.alert]
                    alerting.alertsLag = .zero
                    alerting.webhookURL = hook.url
                    try await withServer(alerting) { _ in
                        let alert = try await eventually("the alert arrives", within: .seconds(150)) { hook.alerts(of: Self.alert).first }
                        #expect(alert.status == "firing")
                        #expect(alert.labels["provider"] == "apns" && alert.labels["severity"] == "page")
                        let summary = try #require(alert.annotations["summary"])
                        #expect(
                            summary.contains("\(Self.count) pushes wait for the credential of \(SendTests.app) (sandbox)"),
                            "\(summary)"
                        )
                        #expect(summary.contains("InvalidProviderToken"), "\(summary)")
                        #expect(alert.annotations["action"]?.contains("pushwatch credentials check") == true)
                        #expect(hook.alerts(of: Self.alert).count == 1)
                    }
                }
            }
        }
    }
}
