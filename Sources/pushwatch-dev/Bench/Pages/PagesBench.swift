import AlertRules
import Alerting
import CommandLineKit
import Foundation
import HTTPClient
import Logging
import Postgres
import PushContract

/// `pushwatch-dev bench pages`: each page of the on-call site, as a ratio to a route that does nothing.
struct PagesBench {
    let database: BenchDatabase
    let history: PagesHistory.Size
    let times: Int
    let logger: Logger

    private static let noOp = "no-op"

    private struct Request {
        var name: String
        var method = "GET"
        var path: String
        var body = ""
        /// What the answer must be, or the figure is of something else.
        var status = 200
    }

    func run() async throws -> PagesBenchReport {
        let configuration = PostgresConfiguration(
            url: database.url,
            maxConnections: 4,
            statementTimeout: .seconds(1_800),
            applicationName: "bench pages"
        )
        _ = try await Migrator(configuration: configuration, directory: try ProjectFiles.locate("sql/migrations"), logger: logger).migrate()
        let pool = PostgresPool(configuration: configuration, logger: logger)
        defer { pool.close() }
        let stored = try await PagesHistory(pool: pool, size: history, logger: logger).store()
        Terminal.note("starting the server")
        let server = try await BenchServer(database: database.url)
        defer { server.stop() }
        var toServer = CurlClientConfiguration()
        toServer.maxResponseBody = 16 << 20
        let client = CurlClient(configuration: toServer)
        defer { client.shutdown() }
        try await settle(client, server)
        return try await measure(client, server, stored)
    }

    /// The backtests of the page of rules run after the start, next to the requests; they are not measured.
    private func settle(_ client: CurlClient, _ server: BenchServer) async throws {
        Terminal.note("waiting for the backtests of the page of rules")
        let page = Request(name: "rules", path: "/oncall/rules")
        for _ in 0..<1_200 {
            let answer = try await ask(page, client, server)
            if !String(decoding: answer.body, as: UTF8.self).contains("Not computed yet") { return }
            try await Task.sleep(for: .milliseconds(500))
        }
        throw CommandFailure.check("The backtests of the page of rules were not done within 10 minutes.")
    }

    private func measure(_ client: CurlClient, _ server: BenchServer, _ stored: PagesHistory.Stored) async throws -> PagesBenchReport {
        let requests = Self.requests(alert: stored.alert)
        // Once unmeasured: connections, plans and caches.
        for request in requests { _ = try await ask(request, client, server) }
        var times = [String: [Double]]()
        var bytes = [String: Int]()
        for turn in 1...self.times {
            for request in requests {
                let answer = try await ask(request, client, server)
                times[request.name, default: []].append(answer.latency.inSeconds * 1_000)
                bytes[request.name] = answer.body.count
            }
            Terminal.progress("\(turn) of \(self.times)", isLast: turn == self.times)
        }
        return PagesBenchReport(
            days: history.days,
            attempts: stored.attempts,
            attemptsOfThePerson: stored.attemptsOfThePerson,
            followers: history.followers,
            times: self.times,
            noOp: Self.noOp,
            measured: requests.map { ($0.name, bytes[$0.name] ?? 0, times[$0.name] ?? []) }
        )
    }

    private static func requests(alert: String) -> [Request] {
        [
            Request(name: noOp, method: "POST", path: BenchServeCommand.noOpPath, body: "{}", status: 201),
            Request(name: "now", path: "/"),
            Request(name: "alert", path: "/oncall/alerts/\(alert)"),
            Request(name: "silence", path: "/oncall/alerts/\(alert)/silence"),
            Request(name: "throttle", path: "/oncall/throttle?provider=fcm"),
            Request(name: "rules", path: "/oncall/rules"),
            Request(name: "person", path: "/people/\(PagesHistory.person)"),
            Request(name: "search", method: "POST", path: "/search", body: "q=d7", status: 303),
            Request(name: "matches", path: "/oncall/matches"),
            Request(name: "match", path: "/oncall/matches/\(PagesHistory.match)"),
            Request(name: "deliveries", path: "/oncall/deliveries"),
            Request(name: "audit", path: "/oncall/audit"),
            Request(name: "runbook", path: "/runbooks/provider-5xx.md"),
            Request(name: "sign-in", path: "/sign-in"),
        ]
    }

    private func ask(_ request: Request, _ client: CurlClient, _ server: BenchServer) async throws -> OutboundResponse {
        let origin = "http://127.0.0.1:\(server.port)"
        var headers: HeaderFields = [
            ("Authorization", "Bearer \(server.key)"), ("Accept", "text/html"), ("Cookie", "pushwatch_zone=Europe/Berlin"),
        ]
        if request.method == "POST" {
            let isForm = request.path == "/search"
            headers.append("Content-Type", isForm ? "application/x-www-form-urlencoded" : "application/json")
            headers.append("Origin", origin)
        }
        let answer = try await client.send(
            OutboundRequest(method: request.method, url: origin + request.path, headers: headers, body: Array(request.body.utf8))
        )
        guard answer.status == request.status else {
            throw CommandFailure.check(
                "\(request.method) \(request.path) was answered with \(answer.status): \(String(decoding: answer.body.prefix(2_000), as: UTF8.self))"
            )
        }
        return answer
    }
}
