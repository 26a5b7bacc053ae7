import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("The analysts' cookbook (sql/queries)")
struct CookbookTests {
    /// A query, what it is asked with, and its answer worked out by hand from `CookbookSample`.
    struct Dish: Sendable {
        var query: String
        var values: [String: String]
        var answer: [String]

        init(_ query: String, _ values: [String: String], _ answer: [String]) {
            self.query = query
            self.values = values
            self.answer = answer
        }

        init(_ query: String, _ answer: [String]) { self.init(query, CookbookTests.today, answer) }
    }

    static let today = ["since": "2026-03-10", "until": "2026-03-11"]
    private static func hash(_ token: String) -> String { "sha256:" + String(repeating: token, count: 32) }

    private static let exported =
        #"{"attemptId":"f5","uid":"u-3","platform":"android","provider":"fcm","tokenHash":"\#(hash("03"))","eventType":"send","#
        + #""status":"failed","reasonCode":"unknown","attemptedAt":"2026-03-10T10:21:00+00:00","requestId":"r","app":"android.app","#
        + #""appVersion":"2.0"}"#

    static let dishes: [Dish] = [
        Dish(
            "alertsWithResponse",
            [
                #"("2026-03-10 10:05:00+00",ProviderOutage,provider=fcm,page,resolved,00:20:00,00:02:00,ana,f,f,"#
                    + "00000000-0000-0000-0000-000000000001)"
            ]
        ),
        Dish(
            "codesBehindUnknown",
            [
                #"(fcm,QUOTA_EXCEEDED,2,1,"2026-03-10 10:10:00+00","2026-03-10 10:20:00+00")"#,
                #"(fcm,"(none)",1,1,"2026-03-10 10:21:00+00","2026-03-10 10:21:00+00")"#,
            ]
        ),
        Dish("comparedWithWeekBefore", [#"("2026-03-10 10:00:00+00",7,4,1,0)"#, #"("2026-03-10 11:00:00+00",3,2,0,0)"#]),
        // Two weeks, which have a week in common with the two that began a week before.
        Dish(
            "comparedWithWeekBefore",
            ["since": "2026-02-25", "until": "2026-03-11"],
            [
                #"("2026-03-03 10:00:00+00",1,0,0,0)"#, #"("2026-03-09 08:00:00+00",20,5,0,0)"#,
                #"("2026-03-10 10:00:00+00",7,4,1,0)"#, #"("2026-03-10 11:00:00+00",3,2,0,0)"#,
            ]
        ),
        Dish("deadTokensStillSentTo", [#"(\#(hash("01")),"2026-03-10 11:00:00+00",1,"2026-03-10 11:05:00+00")"#]),
        Dish(
            "deliveryRateByAppVersion",
            ["(2026-03-10,android.app,2.0,5,1,20.00)", "(2026-03-10,ios.app,1.0,4,2,50.00)", "(2026-03-10,ios.app,1.1,1,1,100.00)"]
        ),
        Dish("deliveryRateByDay", ["(2026-03-10,apns,ios,3,2,60.00)", "(2026-03-10,fcm,android,1,4,20.00)"]),
        // Quarters of an hour in which nothing failed, and in which nothing was accepted.
        Dish("deliveryRateByDay", ["since": "2026-03-10 11:30Z", "until": "2026-03-10 11:45Z"], ["(2026-03-10,apns,ios,1,0,100.00)"]),
        Dish("deliveryRateByDay", ["since": "2026-03-10 10:10Z", "until": "2026-03-10 10:25Z"], ["(2026-03-10,fcm,android,0,3,0.00)"]),
        Dish(
            "exportAttempts",
            ["since": "2026-03-10 10:21Z", "until": "2026-03-10 10:22Z"],
            // As PostgreSQL writes a record: its quotes are doubled.
            ["(\"" + exported.replacing("\"", with: "\"\"") + "\")"]
        ),
        Dish("failuresByReason", ["(apns,token_not_registered,2,100.00)", "(fcm,unknown,3,75.00)", "(fcm,provider_5xx,1,25.00)"]),
        Dish(
            "failuresPerMinute",
            ["since": "2026-03-10 10:00Z", "until": "2026-03-10 10:03Z", "provider": "fcm"],
            [#"("2026-03-10 10:00:00+00",2,1,1)"#, #"("2026-03-10 10:01:00+00",0,0,0)"#, #"("2026-03-10 10:02:00+00",0,0,0)"#]
        ),
        // Until within the last minute, which counts as a whole.
        Dish(
            "failuresPerMinute",
            ["since": "2026-03-10 10:09Z", "until": "2026-03-10 10:10:30Z", "provider": "fcm"],
            [#"("2026-03-10 10:09:00+00",0,0,0)"#, #"("2026-03-10 10:10:00+00",1,1,0)"#]
        ),
        Dish(
            "firstFailurePerToken",
            [
                #"(\#(hash("01")),u-1,apns,"2026-03-10 11:00:00+00",token_not_registered,Unregistered,t)"#,
                #"(\#(hash("03")),u-3,fcm,"2026-03-10 10:10:00+00",unknown,QUOTA_EXCEEDED,f)"#,
                #"(\#(hash("02")),u-2,fcm,"2026-03-10 10:00:10+00",provider_5xx,UNAVAILABLE,f)"#,
            ]
        ),
        Dish(
            "latencyByProviderAndHour",
            [
                #"("2026-03-10 10:00:00+00",apns,2,20,29,30)"#, #"("2026-03-10 10:00:00+00",fcm,3,200,290,300)"#,
                #"("2026-03-10 11:00:00+00",apns,3,20,47,50)"#,
            ]
        ),
        Dish(
            "meanLatencyByHour",
            [
                #"("2026-03-10 10:00:00+00",apns,2,20.0)"#, #"("2026-03-10 10:00:00+00",fcm,3,200.0)"#,
                #"("2026-03-10 11:00:00+00",apns,3,30.0)"#,
            ]
        ),
        Dish(
            "queueBacklog",
            [:],
            [
                #"(android.app,fcm,production,normal,1,"2026-03-10 10:00:00+00",1,1,0,"2026-03-10 10:05:00+00")"#,
                "(ios.app,apns,production,critical,0,,0,0,0,)",
            ]
        ),
        Dish("registrationsByDay", ["(2026-03-10,ios,ios.app,1,0,0)", "(2026-03-10,web,web.app,0,0,1)"]),
        // Stored at 12:00.
        Dish("reportingDelay", ["since": "2026-03-10 11:30Z", "until": "2026-03-10 11:40Z"], ["(ios.app,register,1,1800,1800,1800)"]),
        Dish(
            "reregisteredAfterNotRegistered",
            [#"(u-1,ios,ios.app,sha256:01010101,"2026-03-10 11:00:00+00","2026-03-10 11:30:00+00",00:30:00)"#]
        ),
        Dish(
            "sendOutcome",
            ["sendId": "S1"],
            [
                #"(1,u-1,d-1,fcm,android.app,sent,1,,,"2026-03-10 10:00:00+00","2026-03-10 10:00:01+00",)"#,
                #"(2,u-2,d-2,fcm,android.app,failed,3,auth,THIRD_PARTY_AUTH_ERROR,"2026-03-10 10:00:00+00","2026-03-10 10:00:02+00",)"#,
                #"(3,u-3,d-3,fcm,android.app,scheduled,1,network,,"2026-03-10 10:00:00+00",,"2026-03-10 10:05:00+00")"#,
                #"(4,u-4,d-4,fcm,android.app,sending,0,,,"2026-03-10 10:00:00+00",,)"#,
                #"(5,u-5,d-5,fcm,android.app,ready,0,,,"2026-03-10 10:00:00+00",,)"#,
            ]
        ),
        Dish("stuckInQueued", [#"(android.app,fcm,android,1,"2026-03-10 09:00:00+00","2026-03-10 09:00:00+00")"#]),
        Dish("successByAttemptNumber", ["(1,3,1,33.33)", "(2,2,1,50.00)"]),
        Dish("unreachedPeople", [#"(u-3,3,"2026-03-10 10:10:00+00","2026-03-10 10:21:00+00",unknown)"#]),
        Dish(
            "userDevices",
            ["uid": "u-1"],
            [
                #"(phone,ios,apns,production,ios.app,1.1,19.0,active,,"2026-03-10 11:30:00+00","2026-03-10 11:30:00+00","#
                    + #""2026-03-10 11:40:00+00",sha256:11111111)"#
            ]
        ),
        Dish(
            "userTimeline",
            today.merging(["uid": "u-3"]) { $1 },
            [
                #"("2026-03-10 10:10:00+00",send,android,fcm,failed,unknown,QUOTA_EXCEEDED,300,android.app,,,S2,sha256:03030303,f3)"#,
                #"("2026-03-10 10:20:00+00",send,android,fcm,failed,unknown,QUOTA_EXCEEDED,,android.app,,,S2,sha256:03030303,f4)"#,
                #"("2026-03-10 10:21:00+00",send,android,fcm,failed,unknown,,,android.app,,,,sha256:03030303,f5)"#,
            ]
        ),
        Dish("worstMinutes", ["since": "2026-03-09", "until": "2026-03-11"], [#"("2026-03-09 08:00:00+00",fcm,20,5,25.0)"#]),
    ]

    @Test("each query, run by an analyst, gives the answer worked out by hand")
    func answers() async throws {
        try await withAnalysts(days: 8) { store in
            _ = try await store.attempts.write(CookbookSample.attempts)
            let owner = try await PostgresConnection.connect(PostgresConfiguration(url: store.url))
            try await owner.executeScript(CookbookSample.others)
            let analyst = try await store.connect()
            for dish in CookbookTests.dishes {
                #expect(try await CookbookQuery(dish.query).rows(dish.values, on: analyst) == dish.answer, "\(dish.query)")
            }
        }
    }

    @Test("days are those of UTC, also in a session whose time zone a driver has set")
    func otherTimeZone() async throws {
        let perDay = try CookbookTests.dishes.filter {
            try $0.values == CookbookTests.today && CookbookQuery($0.query).text.contains("::date")
        }
        #expect(perDay.count >= 3)
        try await withAnalysts(days: 8) { store in
            _ = try await store.attempts.write(CookbookSample.attempts)
            let analyst = try await store.connect()
            try await analyst.executeScript("SET timezone = 'America/New_York'")
            for dish in perDay {
                let answer = try await CookbookQuery(dish.query).rows(["since": "2026-03-10Z", "until": "2026-03-11Z"], on: analyst)
                #expect(answer == dish.answer, "\(dish.query)")
            }
        }
    }

    @Test("a week before is 168 hours, also in a session whose clock has changed meanwhile")
    func clockChange() async throws {
        try await withAnalysts(days: 8) { store in
            _ = try await store.attempts.write(CookbookSample.attempts)
            let analyst = try await store.connect()
            // Since 2026-03-08 an hour ahead.
            try await analyst.executeScript("SET timezone = 'America/New_York'")
            let values = ["since": "2026-03-10Z", "until": "2026-03-11Z"]
            let answer = try await CookbookQuery("comparedWithWeekBefore").rows(values, on: analyst)
            #expect(answer == [#"("2026-03-10 06:00:00-04",7,4,1,0)"#, #"("2026-03-10 07:00:00-04",3,2,0,0)"#])
        }
    }

    @Test("an attempt is stuck after ten minutes, not the minute it was made in", arguments: [("09:10:59", 0), ("09:11:00", 1)])
    func tenMinutes(now: String, stuck: Int) async throws {
        try await withAnalysts(days: 8) { store in
            _ = try await store.attempts.write([CookbookSample.send("q", "u-4", token: "04", .fcm, at: (9, 0, 59), .queued)])
            let query = try CookbookQuery("stuckInQueued").filled(CookbookTests.today)
            let text = query.replacing("now()", with: "'2026-03-10 \(now)Z'::timestamptz")
            #expect(try await store.connect().query(Query(text: text)).count == stuck)
        }
    }

    @Test("Live Activities' tokens are no devices; only sends with an outcome are tries, and a token that works again is not dead")
    func otherAttempts() async throws {
        func attempt(
            _ id: String,
            _ event: EventType,
            token: String,
            at minute: Int64,
            _ status: AttemptStatus = .sent,
            _ reason: ReasonCode? = nil,
            pushType: String? = nil
        ) -> Attempt {
            var attempt = CookbookSample.send(id, "u-1", token: token, .apns, at: (11, minute, 0), status, reason)
            (attempt.eventType, attempt.pushType) = (event, pushType)
            return attempt
        }
        var ended = attempt("l2", .send, token: "14", at: 50, .failed, .tokenNotRegistered, pushType: "liveactivity")
        ended.uid = "u-6"
        let attempts = [
            attempt("l1", .register, token: "12", at: 10, pushType: "liveactivity"), ended,
            // After the token's end at 11:00, and the second try at 11:05.
            attempt("d1", .unregister, token: "01", at: 6), attempt("d2", .send, token: "01", at: 7, .queued),
            attempt("d3", .register, token: "01", at: 8, .failed, .network),
            attempt("d4", .send, token: "13", at: 20, .failed, .tokenInvalid), attempt("d5", .unregister, token: "13", at: 21),
            // Of APNs' other environment: refused, then accepted there.
            attempt("d6", .send, token: "15", at: 22, .failed, .tokenInvalid), attempt("d7", .send, token: "15", at: 23),
            attempt("d8", .send, token: "15", at: 24, .failed, .network),
        ]
        try await withAnalysts(days: 8) { store in
            _ = try await store.attempts.write(CookbookSample.attempts + attempts)
            let analyst = try await store.connect()
            func rows(_ query: String) async throws -> [String] {
                try await CookbookQuery(query).rows(CookbookTests.today, on: analyst)
            }
            #expect(try await rows("registrationsByDay") == ["(2026-03-10,ios,ios.app,1,1,2)", "(2026-03-10,web,web.app,0,0,1)"])
            for query in ["deadTokensStillSentTo", "reregisteredAfterNotRegistered"] {
                let answer = CookbookTests.dishes.first { $0.query == query }?.answer
                #expect(try await rows(query) == answer, "\(query)")
            }
        }
    }

    @Test("an export has every field of an attempt, and is read as the same attempts")
    func export() async throws {
        var full = CookbookSample.send(
            "x1",
            "u-é",
            token: "41",
            .apns,
            at: (10, 45, 0),
            .failed,
            .unknown,
            code: #"a "quoted" \ code"#,
            latency: 7,
            sendId: "S3"
        )
        (full.environment, full.pushType, full.providerMessageId) = (.sandbox, "alert", "m-1")
        full.attemptedAt = full.attemptedAt + .microseconds(1)
        let attempts = CookbookSample.attempts + [full]
        let query = try CookbookQuery("exportAttempts")
        for column in AttemptColumn.contract {
            #expect(query.text.contains("'\(column.name)', \(column.name)"), "\(column.name) is not in sql/queries/exportAttempts.sql")
        }
        try await withAnalysts(days: 8) { store in
            _ = try await store.attempts.write(attempts)
            let analyst = try await store.connect()
            let sql = "SELECT line::text FROM (\(query.filled(CookbookTests.today)) OFFSET 0) AS export (line)"
            let lines = try await analyst.query(Query(text: sql)).map { try $0.decode(String.self) }
            let parsed = try AttemptParser().lines(Array(lines.joined(separator: "\n").utf8))
            #expect(parsed.rejections.isEmpty)
            let read = (0..<parsed.batch.count).map { parsed.batch[$0] }
            let expected = attempts.filter { $0.attemptedAt.day == CookbookSample.day.day }
            #expect(Set(read) == Set(expected) && read.count == expected.count)
        }
    }

    @Test("neither the launch of another device nor another app's registration is a return; without an app each counts")
    func otherRegistrations() async throws {
        func attempt(_ id: String, _ uid: String, token: String, at minute: Int64, app: String? = "ios.app") -> Attempt {
            var attempt = CookbookSample.send(id, uid, token: token, .apns, at: (11, minute, 0))
            (attempt.eventType, attempt.app) = (.register, app)
            return attempt
        }
        var lost = attempt("e4", "u-7", token: "23", at: 20, app: nil)
        (lost.eventType, lost.status, lost.reasonCode) = (.send, .failed, .tokenNotRegistered)
        let attempts = [
            // A tablet that u-1 launched before the phone's token was lost at 11:00, too.
            attempt("e1", "u-1", token: "21", at: -10), attempt("e2", "u-1", token: "21", at: 10),
            attempt("e3", "u-1", token: "22", at: 12, app: "other.app"),
            // Another one that was last seen the day before, which is not in the time asked for.
            attempt("e6", "u-1", token: "25", at: -1440), attempt("e7", "u-1", token: "25", at: 15),
            lost, attempt("e5", "u-7", token: "24", at: 25),
        ]
        try await withAnalysts(days: 8) { store in
            _ = try await store.attempts.write(CookbookSample.attempts + attempts)
            let analyst = try await store.connect()
            let answer = try await CookbookQuery("reregisteredAfterNotRegistered").rows(CookbookTests.today, on: analyst)
            let expected = CookbookTests.dishes.first { $0.query == "reregisteredAfterNotRegistered" }?.answer ?? []
            #expect(answer == [#"(u-7,ios,,sha256:23232323,"2026-03-10 11:20:00+00","2026-03-10 11:25:00+00",00:05:00)"#] + expected)
        }
    }

    @Test("a broadcast that failed is a failure, and its channel not one of the people")
    func broadcasts() async throws {
        var broadcast = CookbookSample.send("c1", "channel:m-1", token: "31", .apns, at: (10, 30, 0), .failed, .unknown, code: "NewCode")
        broadcast.pushType = "liveactivity"
        try await withAnalysts(days: 8) { store in
            _ = try await store.attempts.write(CookbookSample.attempts + [broadcast])
            let analyst = try await store.connect()
            func rows(_ query: String) async throws -> [String] {
                try await CookbookQuery(query).rows(CookbookTests.today, on: analyst)
            }
            var codes = CookbookTests.dishes.first { $0.query == "codesBehindUnknown" }?.answer ?? []
            codes.insert(#"(apns,NewCode,1,0,"2026-03-10 10:30:00+00","2026-03-10 10:30:00+00")"#, at: 1)
            #expect(try await rows("codesBehindUnknown") == codes)
            #expect(try await rows("unreachedPeople") == CookbookTests.dishes.first { $0.query == "unreachedPeople" }?.answer)
        }
    }

    @Test("every query has a test, and says its question, parameters, call and cost")
    func complete() throws {
        let names = try CookbookQuery.all()
        #expect(names.count >= 15)
        #expect(names == Set(CookbookTests.dishes.map(\.query)).sorted())
        let index = try String(
            contentsOf: SQLFiles.queries.deletingLastPathComponent().appendingPathComponent("README.md"),
            encoding: .utf8
        )
        for name in names { #expect(index.contains("(queries/\(name).sql)"), "\(name) is not in sql/README.md") }
        for dish in CookbookTests.dishes {
            let query = try CookbookQuery(dish.query)
            #expect(query.parameters == Set(dish.values.keys), "\(dish.query)")
            let labels = query.header.map { $0.dropFirst(3).prefix { $0 != ":" } }.filter {
                ["Question", "Parameters", "Run", "Reads"].contains($0)
            }
            #expect(labels == ["Question", "Parameters", "Run", "Reads"], "\(dish.query)")
            let run = query.header.drop { !$0.hasPrefix("-- Run:") }.prefix { !$0.hasPrefix("-- Reads:") }.joined(separator: " ")
            #expect(run.hasSuffix("-f sql/queries/\(dish.query).sql"), "\(dish.query)")
            for parameter in query.parameters { #expect(run.contains("-v \(parameter)="), "\(dish.query)") }
            #expect(!query.filled(dish.values).contains("\""), "\(dish.query) quotes a name")
        }
    }
}
