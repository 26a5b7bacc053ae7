import AlertRules
import Audit
import Foundation
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

@testable import Alerting

@Suite("What people do about alerts, and its entry in the audit")
struct AlertActionTests {
    enum Action: CaseIterable {
        case acknowledge, addSilence, expireSilence, accept, undoAcceptance, addExclusion, removeExclusion, retryReceiver, testReceivers
    }

    private static let tables = [
        "alerts", "alertTransitions", "notifications", "alertSilences", "alertAcceptances", "alertBaselineExclusions",
    ]
    private let now = Timestamp.now().flooredToMinute()

    private var silence: AlertSilence {
        AlertSilence(
            matchers: [SilenceMatcher(name: "alertname", value: "X")],
            startsAt: now - .seconds(60),
            endsAt: now + .seconds(3_600),
            author: "test",
            reason: "known",
            createdAt: now
        )
    }

    private var exclusion: ExcludedTime { ExcludedTime(from: now - .seconds(7_200), to: now, reason: "outage", author: "test") }

    /// An alert that fires, of which a notification is dead-lettered.
    private func alert(_ pool: PostgresPool) async throws -> Alert {
        let id = try await TestNotification.fire(receivers: ["hook"], severity: .page, recording: .test(at: now), on: pool)
        try await pool.execute("UPDATE notifications SET state = 'deadLettered', settledAt = \(now)")
        return try #require(try await AlertStore.alert(id, on: pool))
    }

    /// What there has to be before an action; then the action.
    private func prepare(_ action: Action, _ pool: PostgresPool) async throws -> () async throws -> Void {
        let alert = try await alert(pool)
        let audit = AuditRecorder.test(at: now)
        switch action {
        case .acknowledge: return { _ = try await AlertStore.acknowledge(alert.id, recording: audit, on: pool) }
        case .addSilence:
            let silence = silence
            return { try await SilenceStore.insert(silence, recording: audit, on: pool) }
        case .expireSilence:
            let silence = silence
            try await SilenceStore.insert(silence, recording: audit, on: pool)
            return { _ = try await SilenceStore.end(silence.id, recording: audit, on: pool) }
        case .accept: return { _ = try await AcceptanceStore.accept(alert, reason: "a release", recording: audit, on: pool) }
        case .undoAcceptance:
            let accepted = try #require(try await AcceptanceStore.accept(alert, reason: "a release", recording: audit, on: pool))
            return { _ = try await AcceptanceStore.undo(accepted.id, recording: audit, on: pool) }
        case .addExclusion:
            let exclusion = exclusion
            return { try await ExclusionStore.add(exclusion, recording: audit, on: pool) }
        case .removeExclusion:
            let exclusion = exclusion
            try await ExclusionStore.add(exclusion, recording: audit, on: pool)
            return { _ = try await ExclusionStore.remove(from: exclusion.from, recording: audit, on: pool) }
        case .retryReceiver: return { _ = try await NotificationHistory.retry("hook", recording: audit, on: pool) }
        case .testReceivers:
            return { _ = try await TestNotification.fire(receivers: ["hook"], severity: .info, recording: audit, on: pool) }
        }
    }

    @Test("an action about alerts is not done while the audit takes no entry of it", arguments: Action.allCases)
    func refused(_ action: Action) async throws {
        try await withDatabase { pool in
            let perform = try await prepare(action, pool)
            #expect(try await faultsOfRefusedEntry(in: Self.tables, on: pool, perform) == [])
        }
    }

    @Test("of those who acknowledge an alert at the same moment one has done it, and has the only entry")
    func acknowledgedAtOnce() async throws {
        try await withDatabase { pool in
            let alert = try await alert(pool)
            let found = try await atOnce(4, behind: "SELECT FROM alerts FOR UPDATE", pool) { number in
                try await AlertStore.acknowledge(alert.id, recording: .test("person \(number)", at: now), on: pool)
            }
            #expect(found.count { $0 == .now } == 1 && found.count { $0 == .before } == 3, "\(found)")
            let entries = try await AuditLog(pool).latest(10).filter { $0.action == .acknowledgeAlert }
            let acknowledged = try #require(try await AlertStore.alert(alert.id, on: pool))
            #expect(entries.map(\.actor) == [acknowledged.acknowledgedBy])
            #expect(try await AlertStore.acknowledge(UUID(), recording: .test(), on: pool) == .notOpen)
            try await TestNotification.resolve(alert.id, at: now, on: pool)
            #expect(try await AlertStore.acknowledge(alert.id, recording: .test(), on: pool) == .notOpen)
        }
    }

    @Test("of those who end a silence at the same moment one has ended it, and has the only entry")
    func endedAtOnce() async throws {
        try await withDatabase { pool in
            let silence = silence
            try await SilenceStore.insert(silence, recording: .test(at: now), on: pool)
            let ended = try await atOnce(4, behind: "SELECT FROM alertSilences FOR UPDATE", pool) { number in
                try await SilenceStore.end(silence.id, recording: .test("person \(number)", at: now), on: pool)
            }
            #expect(ended.count { $0 } == 1)
            #expect(try await AuditLog(pool).latest(10).count { $0.action == .expireSilence } == 1)
        }
    }

    @Test("a period that is excluded already has no second entry")
    func excludedTwice() async throws {
        try await withDatabase { pool in
            for _ in 1...2 { try await ExclusionStore.add(exclusion, recording: .test(at: now), on: pool) }
            #expect(try await AuditLog(pool).latest(10).map(\.action) == [.addExclusion])
        }
    }

    /// Performs an action several times, each of which waits for the same lock.
    private func atOnce<Value: Sendable>(
        _ number: Int,
        behind lock: Query,
        _ pool: PostgresPool,
        _ action: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { group in
            try await pool.withTransaction { transaction in
                _ = try await transaction.query(lock)
                for index in 1...number { group.addTask { try await action(index) } }
                try await eventually("\(number) wait") {
                    let waiting = try await pool.query(
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                    )
                    return try waiting[0].decode(Int.self) == number
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
