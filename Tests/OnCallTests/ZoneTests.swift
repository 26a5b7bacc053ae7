import Foundation
import HTTPTypes
import HummingbirdTesting
import NIOCore
import PushContract
import Testing

@testable import OnCall

@Suite("The reader's own time")
struct ZoneTests {
    private static let now = Timestamp(rfc3339: "2026-03-10T12:41:07Z")!

    private func inZone<Value>(_ name: String, _ body: () throws -> Value) throws -> Value {
        try ReaderZone.$current.withValue(ReaderZone(name), operation: body)
    }

    @Test(
        "a time is shown in UTC, and in parentheses in the reader's time zone, with a date where that differs",
        arguments: [
            ("Europe/Berlin", "2026-03-10T12:12:00Z", "12:12 UTC (13:12 Berlin)"),
            ("Europe/Berlin", "2026-03-09T12:12:00Z", "2026-03-09 12:12 UTC (13:12 Berlin)"),
            ("Asia/Kolkata", "2026-03-10T00:12:00Z", "00:12 UTC (05:42 Kolkata)"),
            ("America/Argentina/Buenos_Aires", "2026-03-10T01:12:00Z", "01:12 UTC (2026-03-09 22:12 Buenos Aires)"),
            ("Pacific/Auckland", "2026-03-10T12:12:00Z", "12:12 UTC (2026-03-11 01:12 Auckland)"),
            // The same as UTC in winter, an hour ahead in summer.
            ("Europe/London", "2026-03-10T12:12:00Z", "12:12 UTC"),
            ("Europe/London", "2026-07-10T12:12:00Z", "2026-07-10 12:12 UTC (13:12 London)"),
            ("UTC", "2026-03-10T12:12:00Z", "12:12 UTC"),
        ]
    )
    func moments(_ zone: String, _ moment: String, _ text: String) throws {
        try inZone(zone) { #expect(ClockText.moment(Timestamp(rfc3339: moment)!, now: Self.now) == text) }
    }

    @Test("spans and seconds, too; without a zone in UTC alone")
    func spans() throws {
        let from = Timestamp(rfc3339: "2026-03-10T12:26:00Z")!
        try inZone("Europe/Berlin") {
            #expect(ClockText.span(from, to: from + .seconds(900), now: Self.now) == "12:26 to 12:41 UTC (13:26 to 13:41 Berlin)")
            #expect(ClockText.exact(Self.now, now: Self.now) == "12:41:07 UTC (13:41:07 Berlin)")
        }
        #expect(ClockText.span(from, to: from + .seconds(900), now: Self.now) == "12:26 to 12:41 UTC")
        #expect(
            ClockText.span(from - .seconds(86_400), to: from, now: Self.now) == "2026-03-09 12:26 to 2026-03-10 12:26 UTC"
        )
        #expect(ClockText.exact(Self.now, now: Self.now) == "12:41:07 UTC")
    }

    @Test(
        "moments in sentences that were stored are written for the reader, too; what only looks like one stays",
        arguments: [
            ("until 2026-03-10T14:41:07.985637Z: why", "until 14:41 UTC (15:41 Berlin): why"),
            ("since 2026-03-09 12:12 UTC: 203 of 2310", "since 2026-03-09 12:12 UTC (13:12 Berlin): 203 of 2310"),
            ("2026-03-10T12:12:00Z", "12:12 UTC (13:12 Berlin)"), ("on 2026-03-10 at noon", "on 2026-03-10 at noon"),
            ("2026-99-99T12:12:00Z", "2026-99-99T12:12:00Z"), ("2026-03-10 12:12 CET, é", "2026-03-10 12:12 CET, é"), ("", ""),
        ]
    )
    func stored(_ sentence: String, _ text: String) throws {
        try inZone("Europe/Berlin") { #expect(StoredMoments.text(sentence, now: Self.now) == text) }
    }

    @Test("charts have the reader's times in a line below UTC's, and grow by it")
    func charts() throws {
        let from = Timestamp(rfc3339: "2026-03-10T09:00:00Z")!
        func chart() -> String { RateChart.svg(Traffic(from: from, minutes: 180, cells: []).perMinute, from: from) }
        #expect(chart().contains(">10:00<") && !chart().contains(">(11:00)<") && chart().contains("height=\"172\""))
        try inZone("Europe/Berlin") {
            let chart = chart()
            #expect(chart.contains(">10:00<") && chart.contains(">(11:00)<") && chart.contains("height=\"186\""), "\(chart)")
        }
    }

    @Test(
        "what is no zone's name counts for nothing",
        arguments: [
            "", "Nowhere/City", "Europe/Berlin<script>", "../../etc/passwd", String(repeating: "A", count: 65), "Europe/Berl\u{131}n",
        ]
    )
    func strange(_ name: String) {
        #expect(ReaderZone(name) == nil)
    }

    @Test("every zone that can be chosen is one")
    func all() {
        #expect(ReaderZone.all.count > 300 && ReaderZone.all.contains("Europe/Berlin") && ReaderZone.all.contains("UTC"))
        #expect(ReaderZone.all.filter { ReaderZone($0) == nil } == [])
    }

    @Test("the zone comes in a cookie, from the script or from the form; another one's page is in UTC")
    func cookie() async throws {
        try await OnCallRoutesTests().withSite { client, _ in
            for (cookie, expected) in [
                ("s=alerts:read; pushwatch_zone=~Europe/Berlin", "since 12:12 UTC (13:12 Berlin), 29 min ago"),
                ("s=alerts:read; pushwatch_zone=Asia/Kolkata", "since 12:12 UTC (17:42 Kolkata), 29 min ago"),
                ("s=alerts:read; pushwatch_zone=Nowhere/City", "since 12:12 UTC, 29 min ago"),
                ("s=alerts:read", "since 12:12 UTC, 29 min ago"),
            ] {
                let page = try await client.execute(uri: "/", method: .get, headers: [.cookie: cookie, .accept: "text/html"])
                #expect(String(buffer: page.body).contains(expected), "\(cookie)")
            }
        }
    }

    @Test("without a script the zone is chosen in a form, and kept in the browser")
    func form() async throws {
        try await OnCallRoutesTests().withSite { client, _ in
            let page = try await client.execute(
                uri: "/oncall/zone",
                method: .get,
                headers: [.cookie: "s=alerts:read; pushwatch_zone=Asia/Tokyo", .referer: "http://localhost/oncall/audit"]
            )
            let html = String(buffer: page.body)
            #expect(html.contains("<option value=\"Asia/Tokyo\" selected>") && html.contains("name=\"back\" value=\"/oncall/audit\""))
            func choose(_ zone: String, origin: String = "http://localhost") async throws -> (HTTPResponse.Status, String?) {
                let answer = try await client.execute(
                    uri: "/oncall/zone",
                    method: .post,
                    headers: [.cookie: "s=alerts:read", .origin: origin, .contentType: "application/x-www-form-urlencoded"],
                    body: ByteBuffer(string: "zone=\(zone)&back=/oncall/audit")
                )
                #expect(answer.status != .seeOther || answer.headers[.location] == "/oncall/audit")
                return (answer.status, answer.headers[.setCookie])
            }
            #expect(
                try await choose("Europe%2FBerlin") == (.seeOther, "pushwatch_zone=Europe/Berlin; Path=/; Max-Age=31536000; SameSite=Lax")
            )
            #expect(try await choose("") == (.seeOther, "pushwatch_zone=; Path=/; Max-Age=0; SameSite=Lax"))
            #expect(try await choose("Nowhere%2FCity") == (.unprocessableContent, nil))
            #expect(try await choose("Europe%2FBerlin", origin: "https://evil.example") == (.forbidden, nil))
        }
    }
}
