import Access
import AlertRules
import Alerting
import Attempts
import Audit
import Delivery
import Foundation
import HTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import OnCall

@Suite("The site against a database")
struct OnCallRoutesTests {
    static let now = Timestamp(rfc3339: "2026-03-10T12:41:07Z")!

    /// Admits a caller with the cookie `s=<scopes>`.
    struct CookieAuthenticator: Authenticator {
        func authenticate(_ request: Request) async throws -> Caller? {
            guard let cookie = request.headers[.cookie]?.split(separator: ";").first, cookie.hasPrefix("s=") else { return nil }
            return .session(
                id: "s1",
                keyId: "k",
                name: "maria",
                scopes: Set(cookie.dropFirst(2).split(separator: ",").map { Scope(rawValue: String($0)) })
            )
        }
    }

    static let bootstrapKey = "a-long-enough-bootstrap-key"

    static func sessions(_ pool: PostgresPool) throws -> Sessions {
        Sessions(
            keys: KeyAuthenticator(store: APIKeyStore(pool), bootstrap: try BootstrapKey(bootstrapKey), logger: .silent),
            pool: pool,
            isSecure: false
        )
    }

    /// Traffic of two hours in which FCM fails since 12:12, evaluated through 12:40.
    static func seed(_ pool: PostgresPool) async throws {
        let from = now.flooredToMinute() - .seconds(7_200)
        let day = from.seconds / 86_400
        try await PartitionMaintenance(pool: pool, logger: .silent).ensurePartitions(forDays: [day - 1, day, day + 1])
        try await pool.execute(
            """
            INSERT INTO attemptRollups
            SELECT minute, 'fcm'::pushProvider, 'android'::pushPlatform, 'send'::pushEventType, outcome.status::pushStatus, outcome.reason,
                'com.example.app', 'production', 'alert', 0, outcome.attempts, outcome.attempts * 80, outcome.attempts
            FROM generate_series(\(from), \(now.flooredToMinute()), interval '1 minute') AS minute,
                LATERAL (VALUES ('sent', '', 90), ('failed', 'provider_5xx', CASE WHEN minute >= '2026-03-10 12:12Z' THEN 10 ELSE 0 END))
                    AS outcome (status, reason, attempts)
            WHERE outcome.attempts > 0
            """
        )
        try await RuleEvaluator(
            pool: pool,
            rules: rules,
            receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
            configuration: EvaluatorConfiguration(leaseDuration: .seconds(60)),
            logger: .silent,
            now: { now }
        ).evaluate(through: now.flooredToMinute())
    }

    static let rules = RuleRegistry(
        rules: [
            AlertRule(
                name: "ProviderUnavailable",
                ruleGroup: "push-delivery",
                condition: .ratio(RatioCondition(reasons: ["provider_5xx"], above: Fraction(5, 100), for: RuleDuration(minutes: 15))),
                by: [.provider],
                severity: .page,
                labels: ["severity": "page"],
                annotations: RuleAnnotations(
                    summary: AnnotationTemplate(plain: "Sends fail with provider errors"),
                    action: AnnotationTemplate(plain: "Throttle non-critical sends."),
                    runbook: "runbooks/provider-5xx.md"
                ),
                source: SourcePosition(file: "test.yml", line: 1, column: 1)
            )
        ],
        logger: .silent
    )

    static let credentials = CredentialChecker(
        states: {
            [CredentialState(name: "APNs TEAM/KEY", provider: .apns, keyAgeDays: 400), CredentialState(name: "FCM", provider: .fcm)]
        },
        check: {
            [
                CredentialCheckResult(
                    name: "FCM",
                    environment: "production",
                    state: "refused",
                    detail: "invalid_grant. The key was deleted",
                    keyAgeDays: 3,
                    clockAheadSeconds: 90
                )
            ]
        }
    )

    static func routes(_ pool: PostgresPool, backtests: BacktestCache) throws -> OnCallRoutes {
        try OnCallRoutes(
            OnCallSite(
                pool: pool,
                rules: rules,
                backtests: backtests,
                sends: SendStore(pool: pool, record: { _, _ in }),
                throttles: ThrottleStore(pool: pool),
                credentials: credentials,
                runbooks: PageSample.runbooks,
                sessions: try sessions(pool),
                clock: { now }
            )
        )
    }

    func withSite(
        backtests: BacktestCache = BacktestCache(),
        _ test: @Sendable @escaping (any TestClientProtocol, PostgresPool) async throws -> Void
    ) async throws {
        try await withSite(backtests: backtests, authenticator: { _ in CookieAuthenticator() }, test)
    }

    func withSite(
        backtests: BacktestCache = BacktestCache(),
        authenticator: (PostgresPool) throws -> any Authenticator,
        _ test: @Sendable @escaping (any TestClientProtocol, PostgresPool) async throws -> Void
    ) async throws {
        try await withDatabase { pool in
            try await Self.seed(pool)
            let router = HTTPRouter(
                authentication: AuthenticationMiddleware(try authenticator(pool), signInPath: OnCallRoutes.signInPath)
            )
            try Self.routes(pool, backtests: backtests).add(to: router)
            try await Application(router: router).test(.router) { try await test($0, pool) }
        }
    }

    private static let reading: HTTPFields = [.cookie: "s=alerts:read", .accept: "text/html"]

    private static func form(_ scopes: String = "alerts:read,alerts:write", origin: String = "http://localhost") -> HTTPFields {
        [.cookie: "s=\(scopes)", .origin: origin, .contentType: "application/x-www-form-urlencoded"]
    }

    @Test("requests without a session are redirected to the sign-in page, and return to the requested page")
    func strangers() async throws {
        try await withSite { client, _ in
            let answer = try await client.execute(uri: "/oncall/alerts/x", method: .get, headers: [.accept: "text/html"])
            #expect(answer.status == .seeOther)
            let location = try #require(answer.headers[.location])
            let form = try await client.execute(uri: location, method: .get)
            #expect(String(buffer: form.body).contains("name=\"next\" value=\"/oncall/alerts/x\""))
        }
    }

    @Test("Now shows the firing alert with its numbers, and how things stand")
    func nowPage() async throws {
        try await withSite { client, _ in
            let answer = try await client.execute(uri: "/", method: .get, headers: Self.reading)
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "text/html; charset=utf-8")
            #expect(answer.headers[HTTPField.Name("Content-Security-Policy")!]?.hasPrefix("default-src 'none'; script-src 'self';") == true)
            let html = String(buffer: answer.body)
            for text in [
                "1 alert firing, not acknowledged", "Sends fail with provider errors", "since 12:12 UTC, 29 min ago", "10 %",
                "threshold 5 %",
                "Throttle non-critical sends.", "1 rule evaluated through 12:41 UTC", "<strong>100</strong> a minute", "80 ms",
            ] { #expect(html.contains(text), "\(text)") }
            #expect(!html.contains(">Acknowledge<"))
        }
    }

    @Test("an alert's page has chart, evidence, SQL and runbook; an acknowledgement is shown on it")
    func alertPage() async throws {
        try await withSite { client, pool in
            let id = try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased()
            let html = String(buffer: try await client.execute(uri: "/oncall/alerts/\(id)", method: .get, headers: Self.reading).body)
            for text in [
                "class=\"threshold\"", "fired 12:27", "FROM attemptRollups", "a provider answers with server errors",
                "150 of 1,500 attempts in 15 min",
            ] {
                #expect(html.contains(text), "\(text)")
            }
            let acknowledge = "/oncall/alerts/\(id)/acknowledge"
            let refused = try await client.execute(uri: acknowledge, method: .post, headers: Self.form("alerts:read"))
            #expect(refused.status == .forbidden)
            let foreign = try await client.execute(uri: acknowledge, method: .post, headers: Self.form(origin: "https://evil.example"))
            #expect(foreign.status == .forbidden)
            #expect(try await AlertStore.open(on: pool).first?.acknowledgedAt == nil)
            let done = try await client.execute(uri: acknowledge, method: .post, headers: Self.form())
            #expect((done.status, done.headers[.location]) == (.seeOther, "/oncall/alerts/\(id)"))
            let after = String(buffer: try await client.execute(uri: "/oncall/alerts/\(id)", method: .get, headers: Self.reading).body)
            #expect(after.contains("Acknowledged by maria just now"))
        }
    }

    @Test(
        "an alert of a rule that judges no share of attempts shows no chart of it, and so does one about Pushwatch itself",
        arguments: ["backlog", "queue_age", "first_sight", "feed_silent", "reregistration", "traffic_drop"]
    )
    func withoutShare(_ level: String) async throws {
        try await withSite { client, pool in
            let id = try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased()
            func page() async throws -> String {
                String(buffer: try await client.execute(uri: "/oncall/alerts/\(id)", method: .get, headers: Self.reading).body)
            }
            #expect(try await page().contains("<h2>Share of bad attempts</h2>"))
            try await pool.execute("UPDATE alerts SET evidence = jsonb_set(evidence, '{level}', to_jsonb(\(level)::text))")
            let html = try await page()
            #expect(html.contains("<h2>Numbers</h2>") && !html.contains("Share of bad attempts") && !html.contains("class=\"threshold\""))
            #expect(!html.contains("in no rule file any more"))
            try await pool.execute("UPDATE alerts SET rule = 'EvaluatorDataGap'")
            try await pool.execute("UPDATE alerts SET evidence = jsonb_set(evidence, '{level}', '\"threshold\"')")
            let builtIn = try await page()
            #expect(builtIn.contains("This alert is about Pushwatch itself") && !builtIn.contains("in no rule file any more"))
        }
    }

    @Test(
        "an unknown address or alert has a page that says so",
        arguments: ["/oncall/alerts/x", "/oncall/alerts/0198A1B2-C3D4-7E5F-8A9B-0C1D2E3F4A5B", "/runbooks/x.md"]
    )
    func missing(_ path: String) async throws {
        try await withSite { client, _ in
            let answer = try await client.execute(uri: path, method: .get, headers: Self.reading)
            #expect(answer.status == .notFound)
            #expect(String(buffer: answer.body).hasPrefix("<!doctype html>"))
        }
    }

    @Test("signing in by key and name, by ticket, and out again")
    func signIn() async throws {
        try await withSite { client, pool in
            var headers = Self.form()
            headers[.cookie] = nil
            func post(_ body: String) async throws -> TestResponse {
                try await client.execute(uri: "/sign-in", method: .post, headers: headers, body: ByteBuffer(string: body))
            }
            let good = try await post("key=\(Self.bootstrapKey)&name=Ana+N.&next=%2Foncall%2Falerts%2F1")
            #expect((good.status, good.headers[.location]) == (.seeOther, "/oncall/alerts/1"))
            let cookie = try #require(good.headers[.setCookie])
            #expect(cookie.contains("SameSite=Strict"))
            let bad = try await post("key=no&name=Ana")
            #expect(bad.status == .unauthorized && bad.headers[.setCookie] == nil)
            #expect(String(buffer: bad.body).contains("This API key is not known"))
            #expect(String(buffer: bad.body).contains(#"value="Ana""#), "the name need not be typed again")
            let nobody = try await post("key=\(Self.bootstrapKey)")
            #expect(nobody.status == .unprocessableContent && nobody.headers[.setCookie] == nil)
            #expect(String(buffer: nobody.body).contains("Give your name"))
            let text = try await SignInTickets(pool).issue(keyId: BootstrapKey.id, person: "Bo", now: Self.now)
            let look = try await client.execute(uri: "/sign-in?ticket=\(text)", method: .head)
            #expect(look.status == .ok && look.headers[.setCookie] == nil, "a program that looks at the link does not use it up")
            let ticket = try await client.execute(uri: "/sign-in?ticket=\(text)", method: .get)
            #expect(ticket.status == .ok && ticket.headers[.setCookie] != nil)
            #expect(String(buffer: ticket.body).contains("http-equiv=\"refresh\" content=\"0; url=/\""))
            let used = try await client.execute(uri: "/sign-in?ticket=\(text)", method: .get)
            #expect(used.status == .unauthorized && used.headers[.setCookie] == nil)

            let list = try await client.execute(uri: "/oncall/sessions", method: .get, headers: Self.reading)
            #expect(String(buffer: list.body).contains("Ana N.") && String(buffer: list.body).contains("Bo"))
            let bo = try #require(try await Self.sessions(pool).open(now: Self.now).first { $0.person == "Bo" })
            #expect(!String(buffer: list.body).contains(bo.id), "who only reads ends nobody's session")
            let end = "/oncall/sessions/\(bo.id)/end"
            #expect(try await client.execute(uri: end, method: .post, headers: Self.form()).status == .seeOther)
            #expect(try await client.execute(uri: end, method: .post, headers: Self.form()).status == .notFound)
            var own = Self.form()
            own[.cookie] = String(cookie.prefix { $0 != ";" })
            let out = try await client.execute(uri: "/sign-out", method: .post, headers: own)
            #expect(out.headers[.setCookie]?.contains("Max-Age=0") == true)
            #expect(try await Self.sessions(pool).open(now: Self.now).isEmpty)
        }
    }

    @Test("a stored text cannot reorder or hide what surrounds it on a page: its control characters are escaped")
    func controls() async throws {
        try await withSite { client, pool in
            let caller = Caller.key(id: "k", name: "ana\u{202E}", scopes: [])
            try await AuditRecorder(caller, at: Self.now).note(.addThrottle, "\u{2066}x\u{7}", on: pool)
            let html = String(buffer: try await client.execute(uri: "/oncall/audit", method: .get, headers: Self.reading).body)
            #expect(html.contains("ana⟨U+202E⟩") && html.contains("⟨U+2066⟩x⟨U+0007⟩"))
            #expect(!html.unicodeScalars.contains("\u{202E}") && !html.unicodeScalars.contains("\u{7}"))
        }
    }

    @Test("a form's field with NUL is refused, before any database sees it")
    func nul() async throws {
        try await withSite { client, _ in
            let body = ByteBuffer(string: "provider=fcm&perMinute=60&minutes=30&reason=a%00b")
            let answer = try await client.execute(uri: "/oncall/throttle", method: .post, headers: Self.form(), body: body)
            #expect(answer.status == .badRequest && String(buffer: answer.body).contains("U+0000"))
        }
    }

    @Test(
        "a link from another site goes on by itself, since browsers hold back the cookie for it; without a session it ends at the form",
        arguments: ["/oncall/alerts/1", "/"]
    )
    func bounce(_ path: String) async throws {
        try await withSite { client, _ in
            func get(_ path: String, from site: String) async throws -> TestResponse {
                let headers: HTTPFields = [HTTPField.Name("Sec-Fetch-Site")!: site, .accept: "text/html"]
                return try await client.execute(uri: path, method: .get, headers: headers)
            }
            let signIn = try #require(try await get(path, from: "cross-site").headers[.location])
            let bounce = String(buffer: try await get(signIn, from: "cross-site").body)
            #expect(bounce.contains("content=\"0; url=\(path)\""), "\(bounce)")
            // The step that the page goes on with comes from this site.
            #expect(try await get(path, from: "same-origin").headers[.location] == signIn)
            #expect(String(buffer: try await get(signIn, from: "same-origin").body).contains("name=\"key\""))
        }
    }

    @Test("style sheet and script may be kept for good under their own address only, and need no session", arguments: [true, false])
    func assets(_ isScript: Bool) async throws {
        try await withSite { client, _ in
            let versioned = try await client.execute(uri: isScript ? RefreshScript.path : Stylesheet.path, method: .get)
            #expect(versioned.headers[.contentType] == (isScript ? "text/javascript; charset=utf-8" : "text/css; charset=utf-8"))
            #expect(versioned.headers[.cacheControl]?.contains("immutable") == true)
            let plain = try await client.execute(uri: isScript ? "/assets/pushwatch.js" : "/assets/pushwatch.css", method: .get)
            #expect(plain.headers[.cacheControl] == "public, max-age=60")
            #expect(plain.body == versioned.body)
        }
    }

    @Test("a page that changes asks for itself again: by its script, and without scripts by the browser")
    func refreshing() async throws {
        try await withSite { client, _ in
            let html = String(buffer: try await client.execute(uri: "/", method: .get, headers: Self.reading).body)
            #expect(html.contains("<noscript><meta http-equiv=\"refresh\" content=\"30\"></noscript>"))
            #expect(html.contains("<body data-refresh=\"10\">") && html.contains(RefreshScript.path))
            let still = String(buffer: try await client.execute(uri: "/oncall/audit", method: .get, headers: Self.reading).body)
            #expect(!still.contains("http-equiv=\"refresh\"") && !still.contains("data-refresh"))
            #expect(!html.contains("style=\"") && !html.contains("onclick"))
        }
    }

    @Test("no query touches the attempts")
    func plans() async throws {
        try await withDatabase { pool in
            try await Self.seed(pool)
            let queries = [
                NowQueries.traffic(from: Self.now - .seconds(10_800), to: Self.now), NowQueries.lastNotificationAttempt,
                NowQueries.pendingNotifications,
            ]
            for query in queries {
                let plan = try await pool.query("EXPLAIN \(query)").map { try $0.decode(String.self) }.joined(separator: "\n")
                #expect(!plan.contains("notificationdeliveryattempts"))
            }
        }
    }
}
