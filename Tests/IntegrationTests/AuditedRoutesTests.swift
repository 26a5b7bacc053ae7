import Access
import AlertRules
import Alerting
import Audit
import Foundation
import HTTPServer
import HTTPTypes
import Postgres
import PushContract
import Server
import Synchronization
import TestDatabase
import Testing

extension WholeService {
    /// Every route by which a key or a person changes something leaves an entry in the audit, or is here with the reason why not.
    @Suite("Every change by an operator is in the audit")
    struct AuditedRoutesTests {
        private static let exempt = [
            "POST /attempts": "a sender's report: the attempt itself is the record",
            "POST /sends": "a sender's request: the send keeps its author and request id",
            "DELETE /sends/{sendId}": "a sender's request: the send shows who cancelled it, and when",
            "PUT /matches/{matchId}": "a feed's score, several a minute",
            "POST /live-activities/{attributesType}/start": "a sender's request, kept with the activity",
            "POST /live-activities/{attributesType}/update": "a sender's request, kept with the activity",
            "POST /live-activities/{attributesType}/end": "a sender's request, kept with the activity",
            "PUT /live/{type}/{id}": "a sender's state, several a minute",
            "DELETE /live/{type}/{id}": "a sender's request: the subject keeps when it ended",
            "PUT /live/{type}/{id}/followers/{userId}": "a sender's request about one user, kept as the follow",
            "DELETE /live/{type}/{id}/followers/{userId}": "a sender's request about one user, kept with the activities it ends",
            "POST /search": "changes nothing: leads to a person's page",
            "POST /oncall/zone": "sets a cookie of the reader's own browser",
            "POST /sign-in": "opens a session, which is recorded under the name of who opens it",
            "POST /sign-out": "ends the reader's own session, which is recorded under their name",
        ]

        /// A call of a route that changes something, in an order in which each has something to change.
        private struct Call {
            let route: String
            let address: String
            let json: String?
            let form: String?

            init(_ route: String, _ address: String? = nil, json: String? = nil, form: String? = nil) {
                (self.route, self.address) = (route, address ?? String(route.split(separator: " ")[1]))
                (self.json, self.form) = (json, form)
            }
        }

        @Test("each route that writes records who, with which key, and what was before and is after; or states why it does not")
        func everyRoute() async throws {
            let seen = Mutex<[HTTPRouter.Route]>([])
            var hooks = PushwatchServer.Hooks()
            hooks.routes = { router in seen.withLock { $0 = router.routes } }
            // Nothing else closes the circuits of this test.
            try await withServer(adjust: { $0.roles = [.api] }, hooks: hooks) { server in
                var waiting = Set(seen.withLock { $0 }.filter(Self.isWriting).map(Self.name))
                #expect(Set(Self.exempt.keys).subtracting(waiting) == [], "exempt, and no route")
                waiting.subtract(Self.exempt.keys)
                for call in try await calls(server) {
                    let before = try await AuditLog(server.pool).latest(1_000).count
                    let answer = try await perform(call, server)
                    #expect((200..<400).contains(answer.status), "\(call.route): \(answer.status) \(answer.text.prefix(300))")
                    let entries = try await AuditLog(server.pool).latest(1_000)
                    #expect(entries.count > before, "\(call.route) leaves no entry in the audit")
                    guard entries.count > before, let entry = entries.first else { continue }
                    waiting.remove(call.route)
                    #expect((entry.actor, entry.callerKind, entry.keyId) == ("bootstrap", .key, "bootstrap"), "\(call.route)")
                    let isCheck = entry.action == .checkCredentials
                    #expect(isCheck || entry.before != nil || entry.after != nil, "\(call.route) records no state")
                }
                #expect(waiting == [], "these routes write, and neither record it nor state why not")
                let page = try await server.api.get("/oncall/audit")
                #expect(page.text.contains("perMinute: 60 → none") && page.text.contains("with the key bootstrap"))
            }
        }

        /// Routes that change something and that operators can call: not those of app users about themselves.
        private static func isWriting(_ route: HTTPRouter.Route) -> Bool {
            switch route.access {
            case .user, .userOrDeviceSecret: false
            case .open, .scope, .userOrScope: route.method != .get
            }
        }

        private static func name(_ route: HTTPRouter.Route) -> String {
            let parts = route.path.split(separator: "/").map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
            return "\(route.method.rawValue) /" + parts.joined(separator: "/")
        }

        private func perform(_ call: Call, _ server: RunningServer) async throws -> API.Answer {
            let method = String(call.route.prefix { $0 != " " })
            if call.address.contains("ACCEPTANCE") {
                let acceptance = try #require(try await AcceptanceStore.current(on: server.pool).first?.id)
                return try await send(method, call.address.replacing("ACCEPTANCE", with: acceptance.uuidString), call, server)
            }
            if call.address.contains("SILENCE") {
                let silence = try #require(try await SilenceStore.current(at: .now(), on: server.pool).first?.id)
                return try await send(method, call.address.replacing("SILENCE", with: silence.uuidString), call, server)
            }
            return try await send(method, call.address, call, server)
        }

        private func send(_ method: String, _ address: String, _ call: Call, _ server: RunningServer) async throws -> API.Answer {
            if call.route.contains(" /oncall/") {
                return try await server.api.call(
                    method,
                    address,
                    type: "application/x-www-form-urlencoded",
                    headers: [("sec-fetch-site", "same-origin")],
                    body: Array((call.form ?? "").utf8)
                )
            }
            return try await server.api.call(
                method,
                address,
                type: call.json == nil ? nil : "application/json",
                body: Array((call.json ?? "").utf8)
            )
        }

        private func calls(_ server: RunningServer) async throws -> [Call] {
            let alert = try await alert(server.pool)
            for _ in 1...2 { try await gate(server.pool) }
            let ends = (Timestamp.now() + .seconds(3_600)).rfc3339
            let form = "key=\(RunningServer.bootstrapKey)&name=ana"
            let signedIn = try await server.api.with(bearer: nil).call(
                "POST",
                "/sign-in",
                type: "application/x-www-form-urlencoded",
                headers: [("sec-fetch-site", "same-origin")],
                body: Array(form.utf8)
            )
            #expect(signedIn.status == 303)
            let session = try #require(try await SessionStore(server.pool).list().first?.id)
            let silence = #"{"matchers": [{"name": "alertname", "value": "X"}], "endsAt": "\#(ends)", "reason": "known"}"#
            try await server.pool.execute("INSERT INTO pushOutcomeWebhooks (name, number, index) VALUES ('orders', 1, 1)")
            return [
                Call("POST /sends/webhooks/{name}/replay", "/sends/webhooks/orders/replay", json: #"{"after": "0-0"}"#),
                Call("POST /oncall/sessions/{id}/end", "/oncall/sessions/\(session)/end"),
                Call("PUT /sends/throttle", json: #"{"provider": "fcm", "perMinute": 60, "reason": "FCM is slow"}"#),
                Call("DELETE /sends/throttle", "/sends/throttle?provider=fcm"),
                Call("POST /oncall/throttle", form: "provider=fcm&perMinute=60&minutes=60&reason=outage&back=%2F"),
                Call("POST /oncall/throttle/lift", form: "provider=fcm&app=&back=%2F"),
                Call("POST /silences", json: silence), Call("DELETE /silences/{id}", "/silences/SILENCE"),
                Call("POST /alerts/{id}/acknowledge", "/alerts/\(alert)/acknowledge"),
                Call("POST /oncall/alerts/{id}/mark", "/oncall/alerts/\(alert)/mark", form: "verdict=noise"),
                Call("POST /alerts/{id}/accept", "/alerts/\(alert)/accept", json: #"{"reason": "a release"}"#),
                Call("DELETE /acceptances/{id}", "/acceptances/ACCEPTANCE"),
                Call("POST /oncall/alerts/{id}/accept", "/oncall/alerts/\(alert)/accept", form: "reason=a+release"),
                Call("POST /oncall/acceptances/{id}/undo", "/oncall/acceptances/ACCEPTANCE/undo", form: "back=%2F"),
                Call("POST /oncall/alerts/{id}/silence", "/oncall/alerts/\(alert)/silence", form: "minutes=120&reason=known"),
                Call("POST /oncall/silences/{id}/end", "/oncall/silences/SILENCE/end", form: "back=%2F"),
                Call(
                    "POST /oncall/alerts/{id}/acknowledge",
                    "/oncall/alerts/\(try await other(server.pool))/acknowledge",
                    form: "back=%2F"
                ),
                Call("DELETE /sends/circuits/{circuitId}", "/sends/circuits/1"),
                Call("POST /oncall/circuits/{id}/close", "/oncall/circuits/2/close"),
                Call("DELETE /sends/pauses/{provider}/{app}", "/sends/pauses/fcm/a1"),
                Call("POST /oncall/pauses/end", form: "provider=fcm&app=a2"),
                Call("POST /sends/deactivation-limiters/{limiterId}/confirm", "/sends/deactivation-limiters/1/confirm"),
                Call("POST /sends/deactivation-limiters/{limiterId}/undo", "/sends/deactivation-limiters/2/undo"),
                Call("POST /sends/dead/retry", json: #"{"outcome": "failed"}"#), Call("POST /oncall/credentials/check", form: "back=%2F"),
                Call("PUT /audiences/{audienceId}", "/audiences/fans", json: #"{"uids": ["u1"]}"#),
                Call("POST /audiences/{audienceId}/members", "/audiences/fans/members", json: #"{"uids": ["u2"]}"#),
                Call("DELETE /audiences/{audienceId}/members", "/audiences/fans/members", json: #"{"uids": ["u1"]}"#),
                Call("DELETE /audiences/{audienceId}", "/audiences/fans"), Call("DELETE /users/{userId}", "/users/u1"),
            ]
        }

        /// A firing alert, as one of a baseline.
        private func alert(_ pool: PostgresPool) async throws -> String {
            let id = try await TestNotification.fire(receivers: [], severity: .page, recording: .test("test"), on: pool)
            try await pool.execute("UPDATE alerts SET evidence = jsonb_set(evidence, '{definition}', '\"baseline/1\"')")
            return id.uuidString.lowercased()
        }

        /// Another one that fires, and that nobody has acknowledged.
        private func other(_ pool: PostgresPool) async throws -> String {
            let id = UUID()
            let columns = try await pool.query(
                """
                SELECT string_agg(attname, ', ') FROM pg_attribute
                WHERE attrelid = 'alerts'::regclass AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('alertid', 'groupkey')
                """
            )[0].decode(String.self)
            try await pool.execute(
                "INSERT INTO alerts (alertId, groupKey, \(raw: columns)) SELECT \(id), 'other', \(raw: columns) FROM alerts LIMIT 1"
            )
            return id.uuidString.lowercased()
        }

        /// What the send gate and the limiters hold back, one more of each.
        private func gate(_ pool: PostgresPool) async throws {
            let app = "a\(try await pool.query("SELECT count(*) + 1 FROM pushCircuits")[0].decode(Int.self))"
            try await pool.execute(
                """
                INSERT INTO pushCircuits
                    (kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals, nextProbeAt)
                VALUES ('refused', 'apns', \(app), 'production', '', '', 'k', 'InvalidProviderToken', now(), now(), 1,
                    now() + interval '1 hour')
                """
            )
            try await pool.execute(
                """
                INSERT INTO pushRateLimitPauses (provider, app, cause, since, pausedUntil, number)
                VALUES ('fcm', \(app), 'QUOTA_EXCEEDED', now(), now() + interval '1 hour', 1)
                """
            )
            try await pool.execute(
                """
                INSERT INTO deactivationLimiters
                    (provider, app, environment, credential, openedAt, windowFrom, total, ambiguous, gone, cause)
                VALUES ('apns', \(app), 'production', 'k', now(), now(), 10, 10, 0, 'BadDeviceToken')
                """
            )
        }
    }
}
