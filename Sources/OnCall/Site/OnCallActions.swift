import Alerting
import Audit
import Delivery
import Foundation
import Postgres
import PushContract

/// What people do from the pages. Each action leaves its entry in the audit log, with what was before and is after.
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
    func acknowledge(_ id: UUID, recording audit: AuditRecorder) async throws -> Bool {
        try await AlertStore.acknowledge(id, recording: audit, on: pool) != .notOpen
    }

    /// The same form sent twice makes one silence.
    func silence(_ draft: SilenceDraft, recording audit: AuditRecorder) async throws {
        try await SilenceStore.insert(draft.silence(author: audit.actor.name, now: audit.now), once: true, recording: audit, on: pool)
    }

    /// False when there is none, or it has ended.
    func endSilence(_ id: UUID, recording audit: AuditRecorder) async throws -> Bool {
        try await SilenceStore.end(id, recording: audit, on: pool)
    }

    /// Idempotent: the first acceptance stays.
    func accept(_ alert: Alert, reason: String, recording audit: AuditRecorder) async throws {
        _ = try await AcceptanceStore.accept(alert, reason: reason, recording: audit, on: pool)
    }

    /// Nil when none is in force.
    func undoAcceptance(_ id: UUID, recording audit: AuditRecorder) async throws -> AcceptanceRecord? {
        try await AcceptanceStore.undo(id, recording: audit, on: pool)
    }

    /// False when there is no such alert.
    func mark(_ id: UUID, verdict: String, recording audit: AuditRecorder) async throws -> Bool {
        try await RulesStore.mark(id, verdict: verdict, recording: audit, on: pool)
    }

    func throttle(_ draft: ThrottleDraft, recording audit: AuditRecorder) async throws {
        try await throttles.set(draft.throttles(author: audit.actor.name, now: audit.now), recording: audit)
    }

    /// - Parameter app: empty for the throttle of every app.
    func remove(_ provider: Provider, app: String, recording audit: AuditRecorder) async throws {
        _ = try await throttles.remove(provider: provider, app: app, recording: audit)
    }

    /// False when the circuit is closed already.
    func closeCircuit(_ id: Int64, recording audit: AuditRecorder) async throws -> Bool {
        try await sends.closeCircuit(id, recording: audit)
    }

    /// Does nothing when the pause is over.
    func endPause(_ provider: Provider, app: String, recording audit: AuditRecorder) async throws {
        _ = try await sends.endPause(provider: provider, app: app, recording: audit)
    }

    func noteCheck(_ checks: [CredentialCheckResult], recording audit: AuditRecorder) async throws {
        let refused = checks.filter { $0.state != "accepted" }.map { "\($0.name) \($0.environment): \($0.state)" }
        let result = refused.isEmpty ? "all accepted" : refused.joined(separator: ", ")
        try await audit.note(.checkCredentials, "\(checks.count) tried", result, on: pool)
    }

    func firing() async throws -> [Alert] { try await AlertStore.open(on: pool) }

    func alert(_ id: UUID) async throws -> Alert? { try await AlertStore.alert(id, on: pool) }
}
