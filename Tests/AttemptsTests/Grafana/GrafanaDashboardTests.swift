import Foundation
import Postgres
import TestDatabase
import Testing

@testable import Attempts

@Suite("Grafana's dashboards (dashboards/grafana)")
struct GrafanaDashboardTests {
    /// 10 March, hour by hour, looked at from noon.
    static let day = GrafanaQuery(
        from: "2026-03-10T00:00:00Z",
        to: "2026-03-10T23:59:59Z",
        interval: 3600,
        now: "2026-03-10T12:00:00Z",
        variables: ["provider": ["apns", "fcm"], "app": ["", "android.app", "ios.app", "web.app"]]
    )

    @Test("each panel, asked by an analyst, shows what was worked out by hand from the cookbook's day")
    func answers() async throws {
        try await withAnalysts(days: 8) { store in
            _ = try await store.attempts.write(CookbookSample.attempts)
            let owner = try await PostgresConnection.connect(PostgresConfiguration(url: store.url))
            try await owner.executeScript(CookbookSample.others)
            try await owner.executeScript(GrafanaAnswers.alsoStored)
            let analyst = try await store.connect()
            for board in try GrafanaDashboard.all() {
                for panel in board.asking {
                    let sql = GrafanaDashboardTests.day.expand(try #require(panel.targets?.first).rawSql)
                    let answer = try await analyst.query(Query(text: "SELECT answer::text FROM (\(sql)) AS answer"))
                        .map { try $0.decode(String.self) }
                    if ProcessInfo.processInfo.environment["PUSHWATCH_GRAFANA_REPORT"] != nil {
                        print("\"\(board.uid)/\(panel.title)\": [\n" + answer.map { "    #\"\($0)\"#," }.joined(separator: "\n") + "\n],")
                    }
                    #expect(answer == GrafanaAnswers.expected["\(board.uid)/\(panel.title)"], "\(board.uid)/\(panel.title)")
                }
                for variable in board.templating.list where variable.type == "query" {
                    let values = try await analyst.query(Query(text: GrafanaDashboardTests.day.expand(variable.query)))
                    #expect(values.count > 1, "\(board.uid): $\(variable.name)")
                }
                for annotation in board.annotations.list {
                    let marks = try await analyst.query(Query(text: GrafanaDashboardTests.day.expand(annotation.target.rawSql)))
                    #expect(marks.count == 1, "\(board.uid): \(annotation.name)")
                }
            }
        }
    }

    @Test("what a panel costs is bounded by the rows of the time shown, not by what is stored")
    func bounded() async throws {
        try await withAnalysts(days: 8) { store in
            let owner = try await PostgresConnection.connect(PostgresConfiguration(url: store.url, statementTimeout: .seconds(600)))
            try await owner.executeScript(CookbookPlanTests.generate(200_000))
            let counted = try await owner.query(
                """
                SELECT count(*), (SELECT count(*) FROM attemptRollups) FROM notificationDeliveryAttempts
                WHERE attemptedAt BETWEEN '2026-03-10 06:00Z' AND '2026-03-10 12:00Z'
                """
            )
            let (attempts, rollups) = try counted[0].decode((Int, Int).self)
            let analyst = try await store.connect()
            var query = GrafanaDashboardTests.day
            (query.from, query.to, query.interval) = ("2026-03-10T06:00:00Z", "2026-03-10T12:00:00Z", 60)
            for board in try GrafanaDashboard.all() {
                for panel in board.asking {
                    let sql = try #require(panel.targets?.first).rawSql
                    let plan = try await analyst.query(Query(text: "EXPLAIN " + query.expand(sql))).map { try $0.decode(String.self) }
                    let cost = try #require(plan.first.flatMap(CookbookPlanTests.cost))
                    let asksAttempts = sql.contains("notificationDeliveryAttempts")
                    let bound =
                        asksAttempts
                        ? 2000 + 1.5 * Double(attempts)
                        : sql.contains("$__timeFrom()::timestamptz - interval '7 days'")
                            ? 2000 + 0.6 * Double(rollups) : 2000 + 0.15 * Double(rollups)
                    #expect(cost <= bound, "\(board.uid)/\(panel.title): cost \(cost), bound \(bound)\n\(plan.joined(separator: "\n"))")
                    let days = Set(plan.flatMap { $0.matches(of: /notificationdeliveryattempts_([0-9]{8})/).map { String($0.1) } })
                    #expect(days.isSubset(of: ["20260310"]), "\(board.uid)/\(panel.title) reads \(days.sorted())")
                }
            }
        }
    }

    @Test("dashboards hold what Grafana needs: ids, data source variables, units, time filters, a grid without overlaps")
    func wellFormed() throws {
        let boards = try GrafanaDashboard.all()
        #expect(boards.count == 5 && Set(boards.map(\.uid)).count == 5)
        for board in boards {
            #expect(board.uid.wholeMatch(of: /[a-z0-9-]{1,40}/) != nil && !board.description.isEmpty)
            #expect(
                board.schemaVersion >= 39 && board.timezone == "utc" && board.time.from.hasPrefix("now-") && board.tags == ["pushwatch"]
            )
            #expect(Set(board.panels.map(\.id)).count == board.panels.count, "\(board.uid): an id twice")
            #expect(Set(board.panels.map(\.title)).count == board.panels.count, "\(board.uid): a title twice")
            let defined = Set(board.templating.list.map(\.name))
            #expect(defined.contains("datasource"))
            var taken: Set<Int> = []
            for panel in board.panels {
                let place = panel.gridPos
                #expect(place.x + place.w <= 24)
                for cell in (place.y..<place.y + place.h).flatMap({ row in (place.x..<place.x + place.w).map { row * 24 + $0 } }) {
                    #expect(taken.insert(cell).inserted, "\(board.uid)/\(panel.title) lies over another panel")
                }
            }
            for panel in board.asking { try check(panel, of: board, defined) }
        }
    }

    /// Panels that show how things are now, whatever the time shown.
    static let ofNow: Set<String> = [
        "Alerts firing", "Waiting to be sent", "Oldest waiting", "Last attempt stored", "Not delivered yet", "Rules evaluated until",
        "Devices, by state of their token", "Not seen for 30 days", "Devices, by app version", "Why tokens are inactive", "Queue, by queue",
        "Throttles in force",
    ]

    private func check(_ panel: GrafanaDashboard.Panel, of board: GrafanaDashboard, _ defined: Set<String>) throws {
        let source = GrafanaDashboard.Source(type: "grafana-postgresql-datasource", uid: "${datasource}")
        let target = try #require(panel.targets?.first)
        let sql = target.rawSql
        #expect(panel.targets?.count == 1 && panel.datasource == source && target.datasource == source && target.rawQuery)
        #expect(panel.description?.hasSuffix("?") == true || panel.description?.contains("? ") == true, "\(panel.title) asks no question")
        #expect(panel.fieldConfig?.defaults.unit != nil, "\(panel.title) has no unit")
        #expect(target.format == (panel.type == "timeseries" ? "time_series" : "table"), "\(panel.title)")
        if panel.type == "timeseries" { #expect(sql.contains("AS time") || sql.contains("$__timeGroupAlias("), "\(panel.title)") }
        let isBounded = sql.contains("$__timeFilter(") || sql.contains("$__timeFrom()")
        #expect(isBounded != GrafanaDashboardTests.ofNow.contains(panel.title), "\(panel.title): time filter")
        for name in sql.matches(of: /\$([a-z]+)/).map({ String($0.1) }) { #expect(defined.contains(name), "\(panel.title): $\(name)") }
        // A rate of the interval must divide by the interval, and nothing of the interval may be left unexpanded.
        #expect(!GrafanaDashboardTests.day.expand(sql).contains("$"), "\(panel.title)")
    }

    @Test("dashboards/README.md names every panel with its question")
    func documented() throws {
        let index = GrafanaDashboard.directory.deletingLastPathComponent().appendingPathComponent("README.md")
        let text = try String(contentsOf: index, encoding: .utf8)
        for board in try GrafanaDashboard.all() {
            #expect(text.contains("## \(board.title)"))
            for panel in board.asking { #expect(text.contains("| \(panel.title) | \(panel.description ?? "") |"), "\(panel.title)") }
        }
    }
}
