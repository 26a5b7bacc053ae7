import Audit
import HTTPServer
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

@testable import Delivery

@Suite("What operators do about sends, and its entry in the audit")
struct OperatorActionTests {
    enum Action: CaseIterable {
        case closeCircuit, endPause, setThrottle, removeThrottle, confirmDeactivations, undoDeactivations, retryDeadLetters
        case makeAudience, addToAudience, removeFromAudience, deleteAudience, eraseUser, replayWebhook
    }

    private static let tables = [
        "pushCircuits", "pushRateLimitPauses", "pushThrottles", "deactivationLimiters", "pushDead", "pushReady", "audiences",
        "audienceMembers", "devices", "pushOutcomeWebhooks",
    ]

    /// One of everything that an operator can do something about.
    private func prepare(_ bench: SendingBench) async throws {
        try await bench.register("ann", "phone", token: SendingBench.token(1))
        try await bench.enqueue(#"{"sendId": "s1", "uid": "ann", "title": "Goal"}"#)
        try await bench.dispatch(ScriptedProvider([SendingBench.token(1): [.apns(413, "PayloadTooLarge")]]))
        try await bench.pool.execute(
            """
            INSERT INTO pushCircuits
                (kind, provider, app, environment, platform, topic, credential, cause, since, lastRefusedAt, refusals, nextProbeAt)
            VALUES ('refused', 'apns', 'a', 'production', '', '', 'k', 'InvalidProviderToken', now(), now(), 1, now() + interval '1 hour')
            """
        )
        try await bench.pool.execute(
            """
            INSERT INTO pushRateLimitPauses (provider, app, cause, since, pausedUntil, number)
            VALUES ('fcm', 'a', 'QUOTA_EXCEEDED', now(), now() + interval '1 hour', 1)
            """
        )
        try await bench.pool.execute(
            """
            INSERT INTO deactivationLimiters
                (provider, app, environment, credential, openedAt, windowFrom, total, ambiguous, gone, cause)
            VALUES ('apns', 'a', 'production', 'k', now(), now(), 10, 10, 0, 'BadDeviceToken')
            """
        )
        try await bench.pool.execute("INSERT INTO pushOutcomeWebhooks (name, number, index) VALUES ('orders', 1, 1)")
        try await bench.throttles.set([throttle(.apns)], recording: .test())
        _ = try await AudienceStore(pool: bench.pool).change(.replace, "fans", uids: ["ann"], recording: .test())
    }

    private func throttle(_ provider: Provider) -> SendThrottle {
        SendThrottle(
            provider: provider,
            app: nil,
            perMinute: 60,
            reason: "slow",
            author: "test",
            createdAt: .now(),
            expiresAt: .now() + .seconds(600)
        )
    }

    private func perform(_ action: Action, _ bench: SendingBench) async throws {
        let audit = AuditRecorder.test()
        let (limiters, audiences) = (bench.store.deactivationLimiters, AudienceStore(pool: bench.pool))
        switch action {
        case .closeCircuit: #expect(try await bench.store.closeCircuit(1, recording: audit))
        case .endPause: #expect(try await bench.store.endPause(provider: .fcm, app: "a", recording: audit))
        case .setThrottle: try await bench.throttles.set([throttle(.fcm)], recording: audit)
        case .removeThrottle: #expect(try await bench.throttles.remove(provider: .apns, app: nil, recording: audit) == 1)
        case .confirmDeactivations: #expect(try await limiters.close(1, .confirm, recording: audit) == 0)
        case .undoDeactivations: #expect(try await limiters.close(1, .undo, recording: audit) == 0)
        case .retryDeadLetters:
            let filter = DeadLetterFilter(since: .now() - .seconds(600), until: .now() + .seconds(600))
            #expect(try await bench.store.retryDeadLetters(filter, lifetime: .seconds(600), recording: audit) == 1)
        case .makeAudience: #expect(try await audiences.change(.add, "new", uids: ["bob"], recording: audit)?.members == 1)
        case .addToAudience: #expect(try await audiences.change(.add, "fans", uids: ["bob"], recording: audit)?.members == 2)
        case .removeFromAudience: #expect(try await audiences.change(.remove, "fans", uids: ["ann"], recording: audit)?.members == 0)
        case .deleteAudience: #expect(try await audiences.delete("fans", recording: audit))
        case .eraseUser: try await bench.devices.erase(userId: "ann", requestId: "erase", recording: audit)
        case .replayWebhook:
            let store = OutcomeWebhookStore(pool: bench.pool)
            #expect(try await store.replay("orders", after: .start, recording: audit) != nil)
        }
    }

    @Test("an action about sends is not done while the audit takes no entry of it", arguments: Action.allCases)
    func refused(_ action: Action) async throws {
        try await SendingBench.with { bench in
            try await prepare(bench)
            #expect(try await faultsOfRefusedEntry(in: Self.tables, on: bench.pool) { try await perform(action, bench) } == [])
        }
    }

    @Test("of those who close a circuit or a limiter, or end a pause, at the same moment one has done it, and has the only entry")
    func atOnce() async throws {
        try await SendingBench.with { bench in
            try await prepare(bench)
            let limiters = bench.store.deactivationLimiters
            let done = try await withThrowingTaskGroup(of: Bool.self) { group in
                try await bench.pool.withTransaction { transaction in
                    for table in ["pushCircuits", "pushRateLimitPauses", "deactivationLimiters"] {
                        _ = try await transaction.query("SELECT FROM \(raw: table) FOR UPDATE")
                    }
                    for _ in 1...2 {
                        group.addTask { try await bench.store.closeCircuit(1, recording: .test()) }
                        group.addTask { try await bench.store.endPause(provider: .fcm, app: "a", recording: .test()) }
                        group.addTask { try await limiters.close(1, .undo, recording: .test()) != nil }
                    }
                    try await eventually("all wait") { try await bench.waitingForLocks() == 6 }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(done.count { $0 } == 3, "\(done)")
            let entries = try await AuditLog(bench.pool).latest(3)
            #expect(Set(entries.map(\.action)) == [.closeCircuit, .endPause, .undoDeactivations])
            #expect(try await AuditLog(bench.pool).latest(10).count == 5, "with those of the throttle and the audience")
        }
    }

    @Test("of those who make an audience at the same moment one has made it; the other's entry has what was before")
    func madeAtOnce() async throws {
        try await SendingBench.with { bench in
            let store = AudienceStore(pool: bench.pool)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...4 {
                    group.addTask { _ = try await store.change(.add, "fans", uids: ["u\(number)"], recording: .test()) }
                }
                try await group.waitForAll()
            }
            let entries = try await AuditLog(bench.pool).latest(10)
            #expect(entries.count == 4 && entries.count { $0.before == nil } == 1)
            let members = entries.map { entry in
                AuditChange.between(entry.before, entry.after).first { $0.field == "members" }.map { [$0.before, $0.after] }
            }
            #expect(members == [["3", "4"], ["2", "3"], ["1", "2"], [nil, "1"]])
        }
    }
}
