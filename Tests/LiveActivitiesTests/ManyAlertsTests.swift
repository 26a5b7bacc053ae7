import Delivery
import Foundation
import HTTPServer
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Postgres
import Providers
import PushContract
import ServiceKit
import ServiceLifecycle
import Synchronization
import TestDatabase
import TestSupport
import Testing

@testable import LiveActivities

/// One alert after the other to fifty phones, some slow, one dead.
@Suite("Many alerts")
struct ManyAlertsTests {
    private static let path = "/live/FootballActivityAttributes/ars-che"
    private static let phones = 50
    /// 20 a second where the test may take its time; else as fast as they are taken.
    private static let soaks = ProcessInfo.processInfo.environment["PUSHWATCH_SOAK_MINUTES"] != nil
    private static let alerts = soaks ? 1_000 : 120

    /// 5 % of the tokens answer after a third of a second, 2 % are gone, the others answer at once.
    private final class PagedAPNs: PushProvider {
        static func isSlow(_ number: Int) -> Bool { number % 20 == 3 }
        static func isDead(_ number: Int) -> Bool { number % 50 == 7 }

        private let shown = Mutex<[Int: [Int]]>([:])

        /// The numbers of the alerts that each token was sent, in their order.
        var alerts: [Int: [Int]] { shown.withLock { $0 } }

        func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
            let number = (Int(target.token.suffix(5)) ?? 0) - 10_000
            let payload = try? JSONParser.parse(message.payload?.bytes ?? [])
            let text = payload?.members?["aps"]?.members?["alert"]?.members?["body"]?.string
            shown.withLock { $0[number, default: []] += text.flatMap { Int($0) }.map { [$0] } ?? [] }
            if Self.isSlow(number) { try? await Task.sleep(for: .milliseconds(330)) }
            return Self.isDead(number) ? .apns(410, "Unregistered") : .sent(messageId: "m", httpStatus: 200, latency: .zero)
        }
    }

    private static func state(_ number: Int, alerts: Bool) -> String {
        let alert = alerts ? #", "alert": {"title": "Goal", "body": "\#(number)"}, "critical": true"# : ""
        return """
            {"attributes": {"home": "Arsenal", "away": "Chelsea"}, "startAlert": {"title": "Arsenal – Chelsea", "body": "Kick-off"},
             "contentState": {"phase": "firstHalf", "minute": \(alerts ? 1 : 2), "homeGoals": \(number % 90), "awayGoals": 0}\(alert)}
            """
    }

    @Test(
        "each reaches every live phone once and in order, or is reported as superseded; the last reaches all; a dead token gets one push"
    )
    func many() async throws {
        try await LiveRoutes.with { routes in
            try await Self.start(routes)
            let apns = PagedAPNs()
            let wake = WakeSignal()
            let stores = LiveStores(pool: routes.bench.pool, cipher: BenchParts.cipher, record: BenchParts.recorder())
            let engine = LiveEngine(stores: stores, lookup: { _, _, _ in apns }, logger: .silent)
            let service = LiveService(engine: engine, wake: wake, logger: .silent)
            let group = ServiceGroup(configuration: .init(services: [.init(service: service)], logger: .silent))
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                for number in 1...Self.alerts {
                    let isAlert = try await routes.call(Self.path, .put, as: "service", Self.state(number, alerts: true))
                    try #require(isAlert.status == .ok, "\(number): \(String(buffer: isAlert.body))")
                    wake.signal()
                    if Self.soaks { try await Task.sleep(for: .milliseconds(50)) }
                    guard number.isMultiple(of: 3) else { continue }
                    let isPlain = try await routes.call(Self.path, .put, as: "service", Self.state(number, alerts: false))
                    try #require(isPlain.status == .ok, "\(number): \(String(buffer: isPlain.body))")
                    wake.signal()
                }
                let alive = (1...Self.phones).filter { !PagedAPNs.isDead($0) }
                try await eventually("the last alert is at every live phone") {
                    alive.allSatisfy { apns.alerts[$0]?.last == Self.alerts }
                }
                await group.triggerGracefulShutdown()
                try await tasks.waitForAll()
            }
            for (phone, alerts) in apns.alerts {
                #expect(zip(alerts, alerts.dropFirst()).allSatisfy { $0 < $1 }, "phone \(phone) was sent \(alerts)")
                if PagedAPNs.isDead(phone) { #expect(alerts.count == 1) }
            }
            // What was not shown is reported: each alert of each live phone is one or the other.
            let outcomes = try await Self.undelivered(routes.bench.pool)
            for phone in 1...Self.phones {
                let reported = outcomes["fan-\(phone)", default: []]
                if PagedAPNs.isDead(phone) {
                    #expect(reported.contains { $0["event"] == "failed" && $0["providerErrorCode"] == "Unregistered" })
                } else {
                    #expect(reported.allSatisfy { $0["event"] == "superseded" })
                    #expect(reported.count + (apns.alerts[phone]?.count ?? 0) == Self.alerts, "phone \(phone)")
                    #expect(Set(reported.compactMap { $0["alert"]?["timestamp"]?.integer }).count == reported.count)
                }
            }
            let counts = (1...Self.phones).filter { !PagedAPNs.isSlow($0) && !PagedAPNs.isDead($0) }.map { apns.alerts[$0]?.count ?? 0 }
            print("\(Self.alerts) alerts: \(counts.min() ?? 0) to \(counts.max() ?? 0) at a quick phone, a newer one for the others")
        }
    }

    /// Alerts that did not arrive, by the person, as their sender learns of them.
    private static func undelivered(_ pool: PostgresPool) async throws -> [String: [JSONValue]] {
        let stream = OutcomeStream(pool: pool)
        var cursor = OutcomeCursor.start
        var found: [String: [JSONValue]] = [:]
        while true {
            let page = try await stream.page(after: cursor, limit: 1000)
            for outcome in page.outcomes where outcome["alert"] != nil { found[outcome["uid"]?.string ?? "", default: []].append(outcome) }
            guard page.next != cursor else { return found }
            cursor = page.next
        }
    }

    /// Everybody's phone has the card.
    private static func start(_ routes: LiveRoutes) async throws {
        let bench = routes.bench
        for number in 1...phones {
            try await bench.phone("fan-\(number)", "phone-\(number)", number)
            #expect(try await routes.call("\(path)/followers/fan-\(number)", .put, as: "service").status == .noContent)
        }
        #expect(try await routes.call(path, .put, as: "service", state(0, alerts: false)).status == .created)
        try await bench.run()
        for number in 1...phones {
            let token = #"{"activityId": "ars-che", "deviceId": "phone-\#(number)", "updateToken": "\#(LiveBench.updateToken(number))"}"#
            let posted = try await routes.call(
                "/live-activities/FootballActivityAttributes/activity-token",
                .post,
                as: "fan-\(number)",
                token
            )
            #expect(posted.status == .ok)
        }
        try await bench.run()
        // The service under test takes it over at once.
        try await bench.pool.execute("UPDATE activitySubjects SET owner = NULL, leaseUntil = NULL")
    }
}
