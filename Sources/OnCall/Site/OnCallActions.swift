import Access
import Alerting
import Delivery
import Foundation
import HTTPServer
import Postgres
import PushContract

/// What people do from the pages. Each action leaves its entry in the audit log.
struct OnCallActions: Sendable {
    private let pool: PostgresPool
    private let sends: SendStore
    private let throttles: ThrottleStore

    init(pool: PostgresPool, sends: SendStore, throttles: ThrottleStore) {
        self.pool = pool
        self.sends = sends
        self.throttles = throttles
    }

    /// False when the alert is not open any more.
    func acknowledge(_ id: UUID, by name: String, at now: Timestamp) async throws -> Bool {
        guard try await AlertStore.acknowledge(id, by: name, at: now, on: pool) else { return false }
        try await record(.acknowledgeAlert, id.uuidString.lowercased(), "", by: name, at: now)
        return true
    }

    func silence(_ draft: SilenceDraft, by name: String, at now: Timestamp) async throws {
        let silence = draft.silence(author: name, now: now)
        try await SilenceStore.insert(silence, on: pool)
        try await record(.addSilence, silence.subject, silence.summary, by: name, at: now)
    }

    /// Accepting twice is fine: the first one stays.
    func accept(_ alert: Alert, reason: String, by name: String, at now: Timestamp) async throws {
        guard let accepted = try await AcceptanceStore.accept(alert, author: name, reason: reason, at: now, on: pool) else { return }
        try await record(.acceptBaseline, accepted.subject, accepted.reason, by: name, at: now)
    }

    /// Nil when none is in force.
    func undoAcceptance(_ id: UUID, by name: String, at now: Timestamp) async throws -> AcceptanceRecord? {
        guard let undone = try await AcceptanceStore.undo(id, by: name, at: now, on: pool) else { return nil }
        try await record(.undoAcceptance, undone.subject, undone.reason, by: name, at: now)
        return undone
    }

    func mark(_ id: UUID, verdict: String, in rules: RulesStore, by name: String, at now: Timestamp) async throws -> Bool {
        guard try await rules.mark(id, verdict: verdict, by: name, at: now) else { return false }
        try await record(.markAlert, id.uuidString.lowercased(), verdict, by: name, at: now)
        return true
    }

    func throttle(_ draft: ThrottleDraft, by name: String, at now: Timestamp) async throws {
        let throttles = draft.throttles(author: name, now: now)
        try await self.throttles.set(throttles)
        for throttle in throttles {
            try await record(.addThrottle, throttle.subject, throttle.summary, by: name, at: now)
        }
    }

    /// - Parameter app: empty for the throttle of every app.
    func remove(_ provider: Provider, app: String, by name: String, at now: Timestamp) async throws {
        guard try await throttles.remove(provider: provider, app: app) > 0 else { return }
        try await record(.removeThrottle, app.isEmpty ? provider.rawValue : "\(provider.rawValue) \(app)", "", by: name, at: now)
    }

    /// False when the circuit is closed already.
    func closeCircuit(_ id: Int64, by name: String, at now: Timestamp) async throws -> Bool {
        guard try await sends.closeCircuit(id, by: name) else { return false }
        try await record(.closeCircuit, "circuit \(id)", "", by: name, at: now)
        return true
    }

    /// Ending a pause that is over is fine.
    func endPause(_ provider: Provider, app: String, by name: String, at now: Timestamp) async throws {
        guard try await sends.endPause(provider: provider, app: app) else { return }
        try await record(.endPause, "\(provider.rawValue) \(app)", "", by: name, at: now)
    }

    func noteCheck(_ checks: [CredentialCheckResult], by name: String, at now: Timestamp) async throws {
        let refused = checks.filter { $0.state != "accepted" }.map { "\($0.name) \($0.environment): \($0.state)" }
        let result = refused.isEmpty ? "all accepted" : refused.joined(separator: ", ")
        try await record(.checkCredentials, "\(checks.count) tried", result, by: name, at: now)
    }

    func firing() async throws -> [Alert] { try await AlertStore.open(on: pool) }

    func alert(_ id: UUID) async throws -> Alert? { try await AlertStore.alert(id, on: pool) }

    private func record(_ action: AuditAction, _ subject: String, _ detail: String, by name: String, at now: Timestamp) async throws {
        try await AuditLog(pool).record(AuditEntry(at: now, actor: name, action: action, subject: subject, detail: detail))
    }
}
