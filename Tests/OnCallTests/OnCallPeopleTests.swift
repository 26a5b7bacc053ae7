import Access
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

@Suite("The site: people, rules, deliveries, actions")
struct OnCallPeopleTests {
    private static let reading: HTTPFields = [.cookie: "s=alerts:read", .accept: "text/html"]
    private static let token = "sha256:" + String(repeating: "5e", count: 32)

    private static func form(_ scopes: String = "alerts:read,alerts:write", origin: String = "http://localhost") -> HTTPFields {
        [.cookie: "s=\(scopes)", .origin: origin, .contentType: "application/x-www-form-urlencoded"]
    }

    /// A person with a device, a refused send and a retry; and a send to two people.
    private static func seedPeople(_ pool: PostgresPool) async throws {
        let at = OnCallRoutesTests.now - .seconds(600)
        let later = OnCallRoutesTests.now + .seconds(300)
        try await pool.execute(
            """
            INSERT INTO devices (userId, deviceId, platform, provider, environment, app, pushToken, pushTokenHash, tokenState,
                tokenStateSince, osVersion, appVersion, registrationVersion, registeredAt, tokenRegisteredAt, lastSeenAt, expiresAt)
            VALUES ('ana/1', 'phone-7', 'ios', 'apns', 'production', 'com.example.app', 'v', \(token), 'active',
                \(at), '18.1', '2.1', 1, \(at), \(at), \(at), \(later))
            """
        )
        try await pool.execute(
            """
            INSERT INTO notificationDeliveryAttempts (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode,
                providerErrorCode, attemptedAt, requestId, sendId, receivedAt, attemptKey)
            VALUES ('try-1', 'ana/1', 'ios', 'apns', \(token), 'send', 'failed', 'provider_5xx', 'InternalServerError', \(at), 'r',
                'news-1', \(at), \(AttemptKey(attemptId: "try-1")))
            """
        )
        try await pool.execute(
            """
            INSERT INTO attemptLedger VALUES (\(AttemptKey(attemptId: "try-1")), 1, gen_random_uuid(), \(at), 'failed')
            """
        )
        try await pool.execute(
            "INSERT INTO pushQueues (app, provider, environment, class) VALUES ('com.example.app', 'apns', 'production', 'normal')"
        )
        try await pool.execute(
            """
            INSERT INTO pushDeliveries (sendId, queue, uid, deviceId, platform, createdAt)
            SELECT send, 1, uid, 'phone-7', 'ios', \(at)
            FROM (VALUES ('news-1', 'ana/1'), ('news-2', 'ana/1'), ('news-2', 'ben')) AS asked (send, uid)
            """
        )
        try await pool.execute("INSERT INTO pushScheduled VALUES (1, 1, \(later), 2, 'provider_5xx')")
        try await pool.execute("INSERT INTO pushFinishedSingles VALUES (2, 1, 'sent', 1, 'm', \(at)), (3, 1, 'sent', 1, 'm', \(at))")
    }

    @Test(
        "one search box finds a person by uid, device, attempt, send and token hash",
        arguments: ["ana%2F1", "phone-7", "try-1", "news-1", "sha256:5e", " ANA"]
    )
    func search(_ typed: String) async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            try await Self.seedPeople(pool)
            let wanted = typed == "sha256:5e" ? Self.token : typed
            let answer = try await client.execute(
                uri: "/search",
                method: .post,
                headers: Self.form("alerts:read"),
                body: ByteBuffer(string: "q=\(wanted)")
            )
            if typed == " ANA" {
                #expect(answer.status == .notFound && String(buffer: answer.body).contains("Nobody found"))
            } else {
                #expect((answer.status, answer.headers[.location]) == (.seeOther, "/people/ana%2F1"), "\(typed)")
            }
        }
    }

    @Test("a search for a token reads no table of devices, and finds whose it was after the provider refused it")
    func searchByToken() async throws {
        try await OnCallRoutesTests().withSite { _, pool in
            try await Self.seedPeople(pool)
            try await pool.execute("UPDATE devices SET tokenState = 'inactive'")
            #expect(try await PersonStore(pool: pool).find(.token([Self.token]), now: OnCallRoutesTests.now) == .person("ana/1"))
            try await pool.withTransaction { transaction in
                try await transaction.execute("SET LOCAL enable_seqscan = off")
                let plan = try await transaction.query("EXPLAIN \(PersonStore.owner(ofToken: [Self.token]))").map {
                    try $0.decode(String.self)
                }
                #expect(!plan.contains { $0.contains("Seq Scan on devices") || $0.contains("Seq Scan on devicestarttokens") }, "\(plan)")
            }
        }
    }

    @Test("a token that only a send named is found by its delivery")
    func searchByNamedToken() async throws {
        try await OnCallRoutesTests().withSite { _, pool in
            try await Self.seedPeople(pool)
            let (named, other) = (try TokenHash.fcm("named"), try TokenHash.fcm("other"))
            try await pool.execute(
                """
                UPDATE pushDeliveries SET deviceId = NULL, pushToken = '\\x01', tokenHash = \(named.bytes), createdAt = now() WHERE uid = 'ben'
                """
            )
            let store = PersonStore(pool: pool)
            #expect(try await store.find(.token([named.rawValue]), now: OnCallRoutesTests.now) == .person("ben"))
            #expect(try await store.find(.token([other.rawValue]), now: OnCallRoutesTests.now) == .noMatch)
        }
    }

    @Test("an attemptId of 64 hex digits is found by its hash; a uid or sendId of that shape once somebody says that it is no token")
    func searchByDigits() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            try await Self.seedPeople(pool)
            let attempt = String(repeating: "a1", count: 32)
            let (uid, send) = (String(repeating: "B2", count: 32), String(repeating: "3", count: 64))
            let key = AttemptKey(attemptId: attempt)
            try await pool.execute("UPDATE notificationDeliveryAttempts SET attemptId = \(attempt), attemptKey = \(key)")
            try await pool.execute("UPDATE attemptLedger SET attemptKey = \(key)")
            try await pool.execute("UPDATE pushDeliveries SET sendId = \(send) WHERE sendId = 'news-1'")
            try await pool.execute("UPDATE pushDeliveries SET uid = \(uid), sendId = 'news-3' WHERE uid = 'ben'")
            try await pool.execute("UPDATE devices SET userId = \(uid)")
            func search(_ body: String) async throws -> TestResponse {
                let body = ByteBuffer(string: body)
                return try await client.execute(uri: "/search", method: .post, headers: Self.form("alerts:read"), body: body)
            }
            #expect(try await search("q=\(attempt)").headers[.location] == "/people/ana%2F1")
            for (typed, found) in [(uid, uid), (send, "ana%2F1")] {
                let unknown = try await search("q=\(typed)")
                #expect(unknown.status == .notFound)
                #expect(String(buffer: unknown.body).contains("name=\"q\" value=\"\(typed)\"><input type=\"hidden\" name=\"as\""))
                #expect(try await search("q=\(typed)&as=name").headers[.location] == "/people/\(found)")
            }
            let unknown = try await search("q=nobody")
            #expect(unknown.status == .notFound && !String(buffer: unknown.body).contains("name=\"as\""))
        }
    }

    @Test("a send to several people lists them; another site's form finds nobody")
    func manyPeople() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            try await Self.seedPeople(pool)
            let body = ByteBuffer(string: "q=news-2")
            let answer = try await client.execute(uri: "/search", method: .post, headers: Self.form("alerts:read"), body: body)
            let html = String(buffer: answer.body)
            #expect(html.contains("href=\"/people/ana%2F1\"") && html.contains("href=\"/people/ben\""))
            let foreign = Self.form("alerts:read", origin: "https://evil.example")
            #expect(try await client.execute(uri: "/search", method: .post, headers: foreign, body: body).status == .forbidden)
        }
    }

    @Test("a person's page answers why, and shows devices, what waits and every attempt")
    func person() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            try await Self.seedPeople(pool)
            let answer = try await client.execute(uri: "/people/ana%2F1", method: .get, headers: Self.reading)
            let html = String(buffer: answer.body)
            for text in [
                "<h1>ana/1</h1>", "1 device of 1 can be reached.",
                "The last push failed 10 min ago: the provider had a failure of its own (InternalServerError).",
                "1 delivery is not over yet, the next try in 5 min.", "phone-7", "com.example.app 2.1", "scheduled, after provider_5xx",
                "failed: provider_5xx", "send news-1, attempt try-1",
            ] { #expect(html.contains(text), "\(text)") }
            let unknown = try await client.execute(uri: "/people/nobody", method: .get, headers: Self.reading)
            #expect(String(buffer: unknown.body).contains("Nothing is stored about this person"))
        }
    }

    @Test("the rules' page shows how near each is to firing; marks are counted there")
    func rules() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            let id = try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased()
            let before = String(buffer: try await client.execute(uri: "/oncall/rules", method: .get, headers: Self.reading).body)
            for text in [
                "1 rule, 1 firing", "Not computed yet: its backtest comes within minutes.",
                "provider_5xx above 5 % for 15 min, by provider", "10 % of 5 %", "provider=fcm: 150 of 1,500 attempts",
            ] {
                #expect(before.contains(text), "\(text)")
            }
            let mark = "/oncall/alerts/\(id)/mark"
            let refused = try await client.execute(
                uri: mark,
                method: .post,
                headers: Self.form(),
                body: ByteBuffer(string: "verdict=great")
            )
            #expect(refused.status == .unprocessableContent)
            let noise = try await client.execute(uri: mark, method: .post, headers: Self.form(), body: ByteBuffer(string: "verdict=noise"))
            #expect(noise.status == .seeOther)
            let after = String(buffer: try await client.execute(uri: "/oncall/rules", method: .get, headers: Self.reading).body)
            #expect(after.contains("0 real, 1 noise"))
            let alert = String(buffer: try await client.execute(uri: "/oncall/alerts/\(id)", method: .get, headers: Self.reading).body)
            #expect(alert.contains("Marked as noise by maria."))
        }
    }

    @Test("the rules' page shows each rule's backtest of four weeks, without computing it")
    func backtests() async throws {
        let backtestCache = BacktestCache()
        try await OnCallRoutesTests().withSite(backtests: backtestCache) { client, pool in
            func page() async throws -> String {
                String(buffer: try await client.execute(uri: "/oncall/rules", method: .get, headers: Self.reading).body)
            }
            #expect(try await page().contains("class=\"spell would\"") == false)
            let now = OnCallRoutesTests.now
            var cooldown: [String: Timestamp] = [:]
            await BacktestRefresher(
                pool: pool,
                rules: OnCallRoutesTests.rules,
                backtestCache: backtestCache,
                now: { now },
                logger: .silent
            ).refresh(&cooldown)
            let html = try await page()
            #expect(
                html.contains("class=\"spell would\"")
                    && html.contains("that are stored: 1 alert, firing for 13 min in all; made just now.")
            )
        }
    }

    @Test("a silence shows what it would suppress, suppresses it, and is audited; without a reason it is refused")
    func silence() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            let id = try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased()
            let path = "/oncall/alerts/\(id)/silence"
            let page = String(buffer: try await client.execute(uri: path, method: .get, headers: Self.form()).body)
            #expect(page.contains("alertname = ProviderUnavailable and provider = fcm") && page.contains("Sends fail with provider errors"))
            #expect(try await client.execute(uri: path, method: .get, headers: Self.reading).status == .forbidden)
            let mute = try await client.execute(
                uri: path,
                method: .post,
                headers: Self.form(),
                body: ByteBuffer(string: "minutes=120&reason=")
            )
            #expect(mute.status == .unprocessableContent)
            #expect(try await SilenceStore.current(at: OnCallRoutesTests.now, on: pool).isEmpty)
            let body = ByteBuffer(string: "minutes=120&reason=known+outage")
            #expect(try await client.execute(uri: path, method: .post, headers: Self.form(), body: body).status == .seeOther)
            let silence = try #require(try await SilenceStore.current(at: OnCallRoutesTests.now, on: pool).first)
            #expect(silence.author == "maria" && silence.endsAt == OnCallRoutesTests.now + .seconds(7_200))
            let open = try #require(try await AlertStore.open(on: pool).first)
            #expect(silence.matches(open.labels))
            // It takes effect with the next evaluation; until then the pages say so.
            for page in ["/oncall/alerts/\(id)", "/"] {
                let page = String(buffer: try await client.execute(uri: page, method: .get, headers: Self.form()).body)
                #expect(page.contains("by maria: known outage. This takes effect within a minute."))
            }
            try await pool.execute("UPDATE alerts SET silencedBy = \(silence.id)")
            #expect(
                String(buffer: try await client.execute(uri: "/", method: .get, headers: Self.form()).body)
                    .contains("by maria: known outage. It is recorded, not delivered.")
            )
            try await pool.execute("UPDATE alertSilences SET endsAt = \(OnCallRoutesTests.now)")
            #expect(
                String(buffer: try await client.execute(uri: "/", method: .get, headers: Self.form()).body)
                    .contains("Its silence has ended; this takes effect within a minute.")
            )
            let audit = String(buffer: try await client.execute(uri: "/oncall/audit", method: .get, headers: Self.reading).body)
            #expect(audit.contains("silences.add") && audit.contains("known outage") && audit.contains("maria"))
        }
    }

    @Test("a silence is ended from the first page or from its alert's, by who may, once, and it is audited")
    func endSilence() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            let id = try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased()
            let alert = "/oncall/alerts/\(id)"
            func post(_ path: String, _ body: String, _ headers: HTTPFields = Self.form()) async throws -> TestResponse {
                try await client.execute(uri: path, method: .post, headers: headers, body: ByteBuffer(string: body))
            }
            func html(_ path: String, _ headers: HTTPFields = Self.form()) async throws -> String {
                String(buffer: try await client.execute(uri: path, method: .get, headers: headers).body)
            }
            #expect(try await post(alert + "/silence", "minutes=120&reason=known").status == .seeOther)
            let silence = try #require(try await SilenceStore.current(at: OnCallRoutesTests.now, on: pool).first)
            let end = "/oncall/silences/\(silence.id.uuidString.lowercased())/end"
            for page in ["/", alert] {
                #expect(try await html(page).contains("action=\"\(end)\""), "\(page)")
                #expect(try await html(page, Self.reading).contains(end) == false, "\(page)")
            }
            #expect(try await post(end, "back=%2F", Self.form("alerts:read")).status == .forbidden)
            #expect(try await post(end, "back=%2F", Self.form(origin: "https://evil.example")).status == .forbidden)
            #expect(try await SilenceStore.current(at: OnCallRoutesTests.now, on: pool).count == 1)
            let ended = try await post(end, "back=\(alert)")
            #expect((ended.status, ended.headers[.location]) == (.seeOther, alert))
            #expect(try await SilenceStore.current(at: OnCallRoutesTests.now, on: pool).isEmpty)
            #expect(try await AuditLog(pool).latest(5).map(\.action) == [.expireSilence, .addSilence])
            #expect(try await html(alert).contains("End silence") == false)
            let again = try await post(end, "back=%2F")
            #expect(again.status == .notFound && String(buffer: again.body).contains("or it has ended"))
            #expect(try await AuditLog(pool).latest(5).count == 2)
        }
    }

    @Test("the form of a silence that is sent twice, one after the other or at once, makes one silence and one entry in the audit")
    func silenceTwice() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            let id = try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased()
            let path = "/oncall/alerts/\(id)/silence"
            @Sendable func send(_ minutes: Int) async throws {
                let body = ByteBuffer(string: "minutes=\(minutes)&reason=known+outage")
                #expect(try await client.execute(uri: path, method: .post, headers: Self.form(), body: body).status == .seeOther)
            }
            func expect(_ count: Int) async throws {
                #expect(try await SilenceStore.current(at: OnCallRoutesTests.now, on: pool).count == count)
                #expect(try await AuditLog(pool).latest(10).count == count)
            }
            async let first: Void = send(120)
            async let second: Void = send(120)
            _ = try await (first, second)
            try await expect(1)
            try await send(120)
            try await expect(1)
            // For longer is another one; so is the same a minute later.
            try await send(480)
            try await expect(2)
            try await pool.execute("UPDATE alertSilences SET createdAt = createdAt - interval '60 seconds'")
            try await send(120)
            try await expect(3)
        }
    }

    @Test("a throttle is set from the page for the chosen time, listed, lifted, and both are audited")
    func throttle() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            // Throttles end by the database's clock, so the page's now is not the test's here; a day covers both.
            let body = ByteBuffer(string: "provider=fcm&perMinute=600&minutes=60&reason=outage&back=%2F")
            let refused = try await client.execute(uri: "/oncall/throttle", method: .post, headers: Self.form("alerts:read"), body: body)
            #expect(refused.status == .forbidden)
            let done = try await client.execute(uri: "/oncall/throttle", method: .post, headers: Self.form(), body: body)
            #expect((done.status, done.headers[.location]) == (.seeOther, "/"))
            let row = try await pool.query("SELECT provider::text, app, perMinute, reason, author FROM pushThrottles")
            let stored = try row[0].decode((String, String, Double, String, String).self)
            #expect(stored == ("fcm", "", 600, "outage", "maria"))
            try await pool.execute("UPDATE pushThrottles SET expiresAt = clock_timestamp() + interval '1 hour'")
            let page = try await client.execute(uri: "/oncall/throttle?provider=fcm", method: .get, headers: Self.form())
            #expect(String(buffer: page.body).contains("FCM: at most 600 a minute"))
            // The first page and that of an alert lead there, for those who may lift it.
            let id = try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased()
            let link = "/oncall/throttle?provider=fcm&amp;back=/oncall/alerts/\(id)"
            for (path, link) in [("/", "/oncall/throttle"), ("/oncall/alerts/\(id)", link)] {
                let writer = String(buffer: try await client.execute(uri: path, method: .get, headers: Self.form()).body)
                #expect(writer.contains("<a href=\"\(link)\">Lift a throttle</a>"), "\(path)")
                let reader = String(buffer: try await client.execute(uri: path, method: .get, headers: Self.reading).body)
                #expect(reader.contains("limited to 600 a minute") && !reader.contains("Lift a throttle"), "\(path)")
            }
            let lift = ByteBuffer(string: "provider=fcm&app=&back=%2F")
            #expect(
                try await client.execute(uri: "/oncall/throttle/lift", method: .post, headers: Self.form(), body: lift).status == .seeOther
            )
            #expect(try await pool.query("SELECT 1 FROM pushThrottles").isEmpty)
            #expect(try await AuditLog(pool).latest(5).map(\.action) == [.removeThrottle, .addThrottle])
        }
    }

    @Test("the page of an alert that is over leads to where throttles are lifted, and names those of its own sends alone")
    func liftAfterwards() throws {
        var data = PageSample.alertData(PageSample.alert(resolved: true))
        data.throttles = [Provider.fcm, .apns].map {
            SendThrottle(
                provider: $0,
                app: nil,
                perMinute: 60,
                reason: "outage",
                author: "maria",
                createdAt: PageSample.now,
                expiresAt: PageSample.now + .seconds(3_600)
            )
        }
        func html(_ reader: PageReader) throws -> String {
            try PageTemplates().html(.alert, AlertPage(data, reader: reader, now: PageSample.now))
        }
        let page = try html(PageSample.reader)
        #expect(page.contains("Throttled: fcm: non-critical sends limited to 60 a minute") && !page.contains("Throttled: apns"))
        #expect(page.contains(">Lift what was throttled for it</a>, and mark it") && !page.contains(">Throttle non-critical sends</a>"))
        let other = try html(PageReader(name: "ana", mayAcknowledge: false))
        #expect(other.contains("Lift what was throttled for it, and mark it") && !other.contains("/oncall/throttle"))
    }

    @Test("from an alert of one app that app alone is throttled, unless every app is chosen")
    func throttleOfApp() async throws {
        func path(_ app: String) -> String? {
            let alert = PageSample.alert(rule: "TokensDeactivatedEnMasse", app: app)
            return AlertPage(PageSample.alertData(alert), reader: PageSample.reader, now: PageSample.now).throttlePath
        }
        let back = "back=/oncall/alerts/0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
        #expect(path("com.example.<news>&co") == "/oncall/throttle?provider=fcm&app=com.example.%3Cnews%3E%26co&\(back)")
        #expect(path("other") == "/oncall/throttle?provider=fcm&\(back)", "counts of several apps")
        func waiting(_ backlog: Backlog, app: String) -> String {
            ThrottlePage([], backlog: backlog, provider: .fcm, app: app, back: .home, reader: "maria", now: PageSample.now).waiting
        }
        #expect(
            waiting(PageSample.backlog(growing: true), app: "com.example.scores")
                == "0 non-critical deliveries of com.example.scores wait"
        )
        var backlog = PageSample.backlog(growing: false)
        backlog.queues[0].queued = 1
        #expect(waiting(backlog, app: "com.example.news") == "1 non-critical delivery of com.example.news waits")
        try await OnCallRoutesTests().withSite { client, pool in
            let uri = "/oncall/throttle?provider=fcm&app=com.example.news"
            let form = try await client.execute(uri: uri, method: .get, headers: Self.form())
            let html = String(buffer: form.body)
            #expect(html.contains("name=\"app\" value=\"com.example.news\" checked>") && html.contains("name=\"app\" value=\"\">"))
            for (app, stored) in [("com.example.news", ["com.example.news"]), ("", ["", "com.example.news"])] {
                let body = ByteBuffer(string: "provider=fcm&app=\(app)&perMinute=0&minutes=60&reason=outage&back=%2F")
                let done = try await client.execute(uri: "/oncall/throttle", method: .post, headers: Self.form(), body: body)
                #expect(done.status == .seeOther)
                let rows = try await pool.query("SELECT app FROM pushThrottles ORDER BY app")
                #expect(try rows.map { try $0.decode(String.self) } == stored)
            }
        }
    }

    @Test("credentials are tried from the page by who may, with the providers' words, and it is audited")
    func credentials() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            let now = String(buffer: try await client.execute(uri: "/", method: .get, headers: Self.form()).body)
            #expect(now.contains("Try them now") && now.contains("key file 400 days old"))
            #expect(!String(buffer: try await client.execute(uri: "/", method: .get, headers: Self.reading).body).contains("Try them now"))
            let path = "/oncall/credentials/check"
            #expect(try await client.execute(uri: path, method: .post, headers: Self.form("alerts:read")).status == .forbidden)
            let foreign = Self.form(origin: "https://evil.example")
            #expect(try await client.execute(uri: path, method: .post, headers: foreign).status == .forbidden)
            #expect(try await AuditLog(pool).latest(1).isEmpty)
            let html = String(buffer: try await client.execute(uri: path, method: .post, headers: Self.form()).body)
            for text in ["1 refused", "invalid_grant. The key was deleted; key file 3 days old; this machine&#39;s clock is 90 s ahead"] {
                #expect(html.contains(text), "\(text)")
            }
            let entry = try #require(try await AuditLog(pool).latest(1).first)
            #expect(entry.action == .checkCredentials && entry.actor == "maria" && entry.detail == "FCM production: refused")
        }
    }

    @Test("an alert's page names people who failed, each once, with why; one click leads to their page")
    func affected() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            try await Self.seedPeople(pool)
            for (name, uid, second, reason) in [
                ("f-1", "eva", 1, "provider_5xx"), ("f-2", "eva", 2, "provider_5xx"), ("f-3", "kim/2", 3, "provider_5xx"),
                ("f-4", "sam", 4, "network"),
            ] {
                let at = Timestamp(rfc3339: "2026-03-10T12:20:00Z")! + .seconds(second)
                try await pool.execute(
                    """
                    INSERT INTO notificationDeliveryAttempts (attemptId, uid, platform, provider, tokenHash, eventType, status, reasonCode,
                        providerErrorCode, attemptedAt, requestId, receivedAt, attemptKey, appVersion)
                    VALUES (\(name), \(uid), 'android', 'fcm', \(Self.token), 'send', 'failed', \(reason)::pushReason, 'UNAVAILABLE', \(at),
                        'r', \(at), \(AttemptKey(attemptId: name)), '3.2.0')
                    """
                )
            }
            let id = try #require(try await AlertStore.open(on: pool).first).id.uuidString.lowercased()
            let html = String(buffer: try await client.execute(uri: "/oncall/alerts/\(id)", method: .get, headers: Self.reading).body)
            #expect(html.contains("<a href=\"/people/kim%2F2\">kim/2</a></td><td><time datetime=\"2026-03-10T12:20:03Z\">12:20 UTC</time>"))
            #expect(html.contains("provider_5xx<span class=\"detail\">UNAVAILABLE, app 3.2.0</span>"))
            #expect(html.components(separatedBy: "/people/eva").count == 2, "once each")
            #expect(!html.contains("/people/sam"), "failed for another reason")
        }
    }

    @Test("the deliveries' page shows which receivers were notified of what, and what waits")
    func notifications() async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            let id = try #require(try await AlertStore.open(on: pool).first).id
            try await pool.execute(
                """
                INSERT INTO notificationAttempts (alertId, receiver, seq, result, attemptedAt, status, latencyMs, error)
                VALUES (\(id), 'chat', 1, 'retry', \(OnCallRoutesTests.now), 429, 12, 'slow down')
                """
            )
            let html = String(buffer: try await client.execute(uri: "/oncall/notifications", method: .get, headers: Self.reading).body)
            for text in ["1 waiting, 0 refused for good", "chat", "retry, HTTP 429, 12 ms", "slow down"] {
                #expect(html.contains(text), "\(text)")
            }
        }
    }

    @Test(
        "what was refused for good or given up in the last day is on the deliveries' page as it is on Now; after a day it is history",
        arguments: [
            ("deadLettered", "0 waiting, 1 refused for good, 0 given up"), ("undelivered", "0 waiting, 0 refused for good, 1 given up"),
        ]
    )
    func lost(_ state: String, _ headline: String) async throws {
        try await OnCallRoutesTests().withSite { client, pool in
            func page() async throws -> String {
                String(buffer: try await client.execute(uri: "/oncall/notifications", method: .get, headers: Self.reading).body)
            }
            try await pool.execute("UPDATE notifications SET state = \(state), settledAt = \(OnCallRoutesTests.now - .seconds(3_600))")
            let fresh = try await page()
            #expect(fresh.contains("<h1>\(headline) in the last day</h1>"))
            #expect(fresh.contains("<td data-name=\"State\">\(state == "undelivered" ? "given up" : "refused for good")</td>"))
            try await pool.execute("UPDATE notifications SET settledAt = \(OnCallRoutesTests.now - .seconds(90_000))")
            let later = try await page()
            #expect(later.contains("<h1>Every alert of the last day was delivered</h1>") && !later.contains("data-name=\"State\""))
        }
    }
}
