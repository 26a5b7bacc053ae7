import Foundation
import PushContract
import Testing

@testable import Delivery
@testable import OnCall

@Suite("Pages as they are sent")
struct GoldenPageTests {
    enum Sample: String, CaseIterable {
        case nowFiring = "now-firing"
        case nowQuiet = "now-quiet"
        case nowEmpty = "now-empty"
        case alertFiring = "alert-firing"
        case alertResolved = "alert-resolved"
        case runbook
        case signIn = "sign-in"
        case fault

        func html() throws -> String {
            let (templates, now) = (try PageTemplates(), PageSample.now)
            switch self {
            case .nowFiring:
                let alerts = [
                    PageSample.alert(), PageSample.alert(acknowledged: true, rule: "PushAuthFailing", app: "com.example.<news>&co"),
                ]
                return templates.html(
                    .now,
                    NowPage(PageSample.now(firing: alerts), systemStatus: PageSample.systemStatus, reader: PageSample.reader, now: now)
                )
            case .nowQuiet:
                let data = PageSample.now(firing: [], recent: [PageSample.alert(resolved: true)])
                return templates.html(.now, NowPage(data, systemStatus: PageSample.systemStatus, reader: PageSample.reader, now: now))
            case .nowEmpty:
                var data = PageSample.now(firing: [], through: nil)
                data.traffic = Traffic(from: now.flooredToMinute() - .seconds(10_800), minutes: 180, cells: [])
                data.backlog.queues = []
                return templates.html(.now, NowPage(data, reader: PageSample.reader, now: now))
            case .alertFiring:
                return templates.html(.alert, AlertPage(PageSample.alertData(PageSample.alert()), reader: PageSample.reader, now: now))
            case .alertResolved:
                let alert = PageSample.alert(acknowledged: true, resolved: true)
                return templates.html(.alert, AlertPage(PageSample.alertData(alert), reader: PageSample.reader, now: now))
            case .runbook:
                let text = try #require(PageSample.runbooks.text(named: "token-not-registered.md"))
                return templates.html(.runbook, RunbookPage(name: "token-not-registered.md", markdown: text, person: "on-call", now: now))
            case .signIn:
                return templates.html(
                    .signIn,
                    SignInPage(next: ReturnPath("/oncall/alerts/1"), fault: "This API key is not known.", now: now)
                )
            case .fault:
                let model = FaultPage(
                    title: "The database is unavailable",
                    detail: "It tries again.",
                    requestId: "r-1",
                    isPassing: true,
                    now: now
                )
                return templates.html(.fault, model)
            }
        }
    }

    /// Set `PUSHWATCH_REWRITE_GOLDEN=1` to rewrite the files after a wanted change; read the difference before committing it.
    @Test("pages are those of the golden files", arguments: Sample.allCases)
    func golden(_ sample: Sample) throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(sample.rawValue).html")
        let html = try sample.html().replacing(Stylesheet.path, with: "/assets/pushwatch.css")
            .replacing(RefreshScript.path, with: "/assets/pushwatch.js")
        if ProcessInfo.processInfo.environment["PUSHWATCH_REWRITE_GOLDEN"] != nil {
            try html.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(html == (try String(contentsOf: file, encoding: .utf8)))
    }

    /// Set `PUSHWATCH_PAGES=DIRECTORY` to get the pages as files that a browser shows.
    @Test("pages are whole: no script but our own, no inline style, no placeholder left, every tag closed", arguments: Sample.allCases)
    func whole(_ sample: Sample) throws {
        let html = try sample.html().replacing("<script src=\"\(RefreshScript.path)\" defer></script>", with: "")
        for part in ["<script", " style=", " onclick", "{{", "}}", "Optional(", "nil"] { #expect(!html.contains(part), "\(part)") }
        for tag in [
            "section", "div", "table", "tbody", "tr", "td", "form", "dl", "details", "article", "main", "svg", "p", "li", "ol", "ul",
        ] {
            let opened = html.matches(of: try Regex("<\(tag)[ >]")).count
            #expect(opened == html.matches(of: try Regex("</\(tag)>")).count, "<\(tag)>")
        }
        if let directory = ProcessInfo.processInfo.environment["PUSHWATCH_PAGES"] {
            let page = html.replacing(Stylesheet.path, with: "pushwatch.css").replacing(/<meta http-equiv="refresh"[^>]*>/, with: "")
            try page.write(toFile: "\(directory)/\(sample.rawValue).html", atomically: true, encoding: .utf8)
            try Stylesheet.text.write(toFile: "\(directory)/pushwatch.css", atomically: true, encoding: .utf8)
        }
    }
}
