import Alerting
import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

/// An incident that was: FCM answers with server errors for twenty minutes, and is well again. In stages, in the order of its events.
///
/// The pages' clock stands where the story stands, so that an hour passes without waiting for it; what is stored, evaluated and shown is
/// what would be at that minute. The database's clock is the real one, so that at one stage, the `present`, both are the same: what is done
/// from there (deliveries, a match, a throttle) is neither an hour old nor yet to come. Nothing after the present is part of it.
struct IncidentHistory: Sendable {
    /// Minutes before the present.
    static let quiet = 85
    static let firing = 60
    private static let began = 80
    private static let start = 270
    static let people = 60

    /// Which stage is now.
    enum Present: Int { case firing = 60, recovered = 0 }

    /// When the story ends.
    let now: Timestamp
    private let present: Int
    private let evaluator: RuleEvaluator
    private let clock: PageClock

    init(on pool: PostgresPool, clock: PageClock, present: Present) {
        self.clock = clock
        self.present = present.rawValue
        now = Timestamp.now().flooredToMinute() + .seconds(present.rawValue * 60)
        evaluator = RuleEvaluator(
            pool: pool,
            rules: RuleRegistry(directory: ProjectDirectory.alerts, logger: .silent),
            receivers: ReceiverRegistry(fixed: [.log], logger: .silent),
            logger: .silent,
            now: { clock.now }
        )
    }

    /// A little later, with nothing new.
    func pass(seconds: Int) { clock.set(clock.now + .seconds(seconds)) }

    func moment(_ ago: Int) -> Timestamp { now - .seconds(ago * 60) }

    /// The first stage: hours of traffic as it should be.
    func tellQuiet(_ api: API) async throws {
        try await post(api, from: Self.start, to: Self.quiet)
        try await evaluate(through: Self.quiet + 1)
        try await evaluate(through: Self.quiet)
    }

    func tellIncident(_ api: API) async throws {
        try await post(api, from: Self.quiet, to: Self.firing)
        try await evaluate(through: Self.firing)
    }

    func tellRecovery(_ api: API) async throws {
        try await post(api, from: Self.firing, to: 0)
        try await evaluate(through: 0)
    }

    /// Every rule looks at what happened until then, and the pages' clock stands there.
    private func evaluate(through ago: Int) async throws {
        clock.set(ago == present ? .now() : moment(ago) + .seconds(20))
        try await evaluator.evaluate(through: moment(ago) - .seconds(60))
    }

    /// At the present stage: some real seconds have passed meanwhile.
    func catchUp() { clock.set(.now()) }

    private func post(_ api: API, from: Int, to: Int) async throws {
        var batch = [[String: any Sendable]]()
        for ago in stride(from: from, to: to, by: -1) {
            for index in 0..<30 { batch.append(attempt(ago: ago, index)) }
        }
        for start in stride(from: 0, to: batch.count, by: 2_000) {
            let answer = try await api.post("/attempts", Array(batch[start..<min(start + 2_000, batch.count)]))
            #expect(answer.status == 200, "\(answer.text.prefix(500))")
        }
    }

    private func attempt(ago: Int, _ index: Int) -> [String: any Sendable] {
        let person = (ago * 30 + index * 7) % Self.people
        let isFCM = person.isMultiple(of: 2)
        let isBad = isFCM && ago <= Self.began && ago > Self.firing && index % 5 < 2
        let token = String(format: "%064x", person)
        var attempt: [String: any Sendable] = [
            "attemptId": "a-\(ago)-\(index)", "uid": "person-\(person)", "platform": isFCM ? "android" : "ios",
            "provider": isFCM ? "fcm" : "apns", "tokenHash": "sha256:\(token)", "eventType": "send", "status": isBad ? "failed" : "sent",
            "attemptedAt": (moment(ago) + .milliseconds(index * 1_900)).rfc3339, "requestId": "r-\(ago)", "app": "com.example.scores",
            "appVersion": person % 4 == 0 ? "3.2.0" : "3.1.4", "environment": "production", "pushType": "alert",
            "latencyMs": isBad ? 900 : 40 + index,
        ]
        if isBad {
            attempt["reasonCode"] = "provider_5xx"
            attempt["providerErrorCode"] = "UNAVAILABLE"
        }
        return attempt
    }
}
