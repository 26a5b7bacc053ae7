import Access
import Audit
import HTTPServer
import Postgres
import PushContract
import Testing

extension WholeService {
    @Suite("Who did what")
    struct AuditTests {
        @Test(
            "what a program does with a key is written down like what a person does on a page: throttle, silence, circuit, limiter, dead letters"
        )
        func programs() async throws {
            try await withServer { server in
                let api = server.api
                let throttle = try await api.call(
                    "PUT",
                    "/sends/throttle",
                    type: "application/json",
                    body: Array(#"{"provider": "fcm", "perMinute": 60, "reason": "FCM is slow"}"#.utf8)
                )
                #expect(throttle.status == 200, "\(throttle.text)")
                #expect(try await api.call("DELETE", "/sends/throttle?provider=fcm").status == 200)
                #expect(try await api.call("DELETE", "/sends/throttle?provider=fcm").status == 200, "nothing is left to lift")
                let until = (Timestamp.now() + .seconds(3_600)).rfc3339
                let silence = try await api.post(
                    "/silences",
                    ["matchers": [["name": "alertname", "value": "X"]], "endsAt": until, "reason": "known"]
                )
                #expect(silence.status == 201, "\(silence.text)")
                let id = try #require((silence.json["silence"] as? [String: Any])?["id"] as? String)
                #expect(try await api.call("DELETE", "/silences/\(id)").status == 204)
                let redrive = try await api.post("/sends/dead/retry", ["outcome": "failed"])
                #expect(redrive.status == 200, "\(redrive.text)")
                try await openCircuitAndLimiter(server)
                #expect(try await api.call("DELETE", "/sends/circuits/1").status == 200)
                #expect(try await api.call("DELETE", "/sends/circuits/1").status == 404)
                #expect(try await api.post("/sends/deactivation-limiters/1/undo", [String: String]()).status == 200)
                let entries = try await AuditLog(server.pool).latest(20).reversed()
                #expect(
                    entries.map(\.action) == [
                        .addThrottle, .removeThrottle, .addSilence, .expireSilence, .retryDeadLetters, .closeCircuit, .undoDeactivations,
                    ]
                )
                #expect(Set(entries.map(\.actor)) == ["bootstrap"])
                #expect(entries.first?.detail.hasSuffix(": FCM is slow") == true)
                #expect(entries.map(\.subject) == ["fcm", "fcm", "alertname=X", id, "dead letters", "circuit 1", "limiter 1"])
            }
        }

        private func openCircuitAndLimiter(_ server: RunningServer) async throws {
            try await server.pool.execute(
                """
                INSERT INTO pushCircuits
                    (kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals, nextProbeAt)
                VALUES ('refused', 'apns', 'a', 'production', '', '', 'k', 'InvalidProviderToken', now(), now(),
                        1, now() + interval '1 hour')
                """
            )
            try await server.pool.execute(
                """
                INSERT INTO deactivationLimiters
                    (provider, app, environment, credential, openedAt, windowFrom, total, ambiguous, gone, cause)
                VALUES ('apns', 'a', 'production', 'k', now(), now(), 10, 10, 0, 'BadDeviceToken')
                """
            )
        }
    }
}
