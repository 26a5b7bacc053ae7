import AlertRules
import Alerting
import Audit
import Postgres
import TestDatabase
import Testing

@testable import OnCall

@Suite("Marks of alerts, and their entries in the audit")
struct MarkTests {
    @Test("an alert is not marked while the audit takes no entry of it; the next entry has the mark that it replaces")
    func refused() async throws {
        try await withDatabase { pool in
            let alert = try await TestNotification.fire(receivers: [], severity: .page, recording: .test(), on: pool)
            let faults = try await faultsOfRefusedEntry(in: ["alertMarks"], on: pool) {
                _ = try await RulesStore.mark(alert, verdict: "noise", recording: .test("ana"), on: pool)
            }
            #expect(faults == [])
            #expect(try await RulesStore.mark(alert, verdict: "real", recording: .test("ben"), on: pool))
            let entry = try #require(try await AuditLog(pool).latest(1).first)
            let changes = AuditChange.between(entry.before, entry.after)
            #expect(changes.map { [$0.field, $0.before, $0.after] } == [["author", "ana", "ben"], ["verdict", "noise", "real"]])
        }
    }

    @Test("of those who mark an alert at the same moment one is the first, and each other entry has the mark that it replaces")
    func atOnce() async throws {
        try await withDatabase { pool in
            let alert = try await TestNotification.fire(receivers: [], severity: .page, recording: .test(), on: pool)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...4 {
                    group.addTask {
                        _ = try await RulesStore.mark(alert, verdict: "noise", recording: .test("person \(number)"), on: pool)
                    }
                }
                try await group.waitForAll()
            }
            let entries = try await AuditLog(pool).latest(10).filter { $0.action == .markAlert }
            let authors = entries.map { entry in
                AuditChange.between(entry.before, entry.after).first { $0.field == "author" }?.before
            }
            #expect(authors == Array(entries.dropFirst().map(\.actor)) + [nil])
        }
    }
}
