import Alerting
import Foundation
import Postgres
import PushContract
import Server
import TestDatabase
import TestSupport

/// What the browser tests begin with.
enum BrowserStory {
    /// A server without evaluator (the story evaluates), a browser in front of it, and the first stage stored.
    static func notify(
        present: IncidentHistory.Present = .recovered,
        _ body: (_ window: BrowserWindow, _ server: RunningServer, _ story: IncidentHistory) async throws -> Void
    ) async throws {
        let clock = PageClock(.now())
        var hooks = PushwatchServer.Hooks()
        hooks.pageClock = { clock.now }
        try await withServer(
            adjust: { $0.roles = [.api, .send, .live] },
            hooks: hooks,
            { server in
                let story = IncidentHistory(on: server.pool, clock: clock, present: present)
                try await story.tellQuiet(server.api)
                try await withNotifier(server.pool) {
                    try await Chromium.open { window in try await body(window, server, story) }
                }
            }
        )
    }

    /// Alerts are delivered, to the log.
    private static func withNotifier(_ pool: PostgresPool, _ body: () async throws -> Void) async throws {
        let notifier = Notifier(
            pool: pool,
            receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
            configuration: NotifierConfiguration(externalURL: "http://127.0.0.1"),
            logger: .silent,
            send: { _ in throw NeverHappened(description: "the log needs no network") }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await notifier.run() }
            defer { group.cancelAll() }
            try await body()
        }
    }

    static func signIn(_ window: BrowserWindow, _ server: RunningServer) async throws {
        try await window.go(to: server.url + "/")
        try await window.type(RunningServer.bootstrapKey, into: "#key")
        try await window.type("Ana", into: "#name")
        try await window.click("button", containing: "Sign in")
        try await window.see("Send attempts")
    }
}
