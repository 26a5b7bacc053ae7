import Access
import CommandLineKit
import Foundation
import HTTPClient
import LocalPostgres
import Logging
import Postgres
import ProviderSimulator
import PushContract
import ServiceLifecycle

/// Runs next to the server of a local run: demo traffic, a match and other subjects with their followers, and the text that says how to use
/// what was started.
struct LocalDemoService: Service {
    let run: LocalRun
    let urls: AsyncStream<String>
    let logger: Logger

    func run() async throws {
        var listening: String?
        for await url in urls { listening = url }
        guard let url = listening else { return }
        let userToken = try await run.installation.issuer.token(userId: "demo-user-1", now: Date())
        let ticket = try await signInTicket()
        let client = CurlClient(configuration: CurlClientConfiguration())
        let (announced, announcement) = AsyncStream<Void>.makeStream()
        let traffic = DemoTraffic(
            api: DemoAPI(url: url, client: client),
            key: run.installation.apiKey,
            issuer: run.installation.issuer,
            sendsPerMinute: run.demo?.sendsPerMinute,
            announce: {
                Terminal.printLine(text(url: url, userToken: userToken, ticket: ticket))
                announcement.finish()
            },
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await traffic.run() }
            if let demo = run.demo {
                group.addTask {
                    for await _ in announced {}
                    async let match: Void = DemoMatch(run: run, demo: demo, url: url, client: client, logger: logger).run()
                    try await DemoSubjects(run: run, demo: demo, url: url, client: client).run()
                    try await match
                }
            }
            try await group.waitForAll()
        }
    }

    private func signInTicket() async throws -> String {
        let pool = PostgresPool(
            configuration: PostgresConfiguration(url: run.installation.postgres.socketURL, maxConnections: 1),
            logger: logger
        )
        defer { pool.close() }
        return try await SignInTickets(pool).issue(keyId: run.installation.apiKeyId, person: NSUserName(), now: .now())
    }

    private func text(url: String, userToken: String, ticket: String) -> String {
        let now = Timestamp.now()
        let hash = DemoPerson(1).tokenHash
        return """
            Pushwatch is ready at \(url)

              sign in      \(url)/sign-in?ticket=\(ticket)
                           (once, within 15 minutes; later with the API key at \(url)/sign-in)
              API key      \(run.installation.apiKey)
              user token   \(userToken)
                           (app user demo-user-1)
              database     psql '\(run.installation.postgres.tcpURL)'
              alerts go to \(run.sinkURL), which prints them here
              simulator    \(run.endpoints.controlURL)   (PUT /faults, GET /requests)
              match        \(run.demo == nil ? "none; `pushwatch-dev replay` plays one" : "one after the other, with followers; each is announced here")
              live         \(url)/oncall/matches\(run.demo == nil ? "" : ": the match, football, a delivery and a pager on simulated phones")
                           curl -s \(url)/live -H 'Authorization: Bearer \(run.installation.apiKey)'

            Report an attempt:
              curl -s \(url)/attempts -H 'Authorization: Bearer \(run.installation.apiKey)' -H 'Content-Type: application/json' -d '{"attemptId":"try-\(now.seconds)","uid":"me","platform":"ios","provider":"apns","tokenHash":"\(hash)","eventType":"send","status":"sent","attemptedAt":"\(Timestamp(seconds: now.seconds))","requestId":"try-1"}'

            Register a device, then send to it:
              curl -s \(url)/devices -H 'Authorization: Bearer \(userToken)' -H 'Content-Type: application/json' -d '{"deviceId":"my-phone","pushToken":"\(String(repeating: "5a", count: 32))","platform":"ios","environment":"sandbox","app":"com.example.scores"}'
              curl -s \(url)/sends -H 'Authorization: Bearer \(run.installation.apiKey)' -H 'Content-Type: application/json' -d '{"deviceId":"my-phone","title":"Hello","body":"From Pushwatch"}'

            Ctrl-C stops everything; `pushwatch-dev up` continues with the same data.
            """
    }
}
