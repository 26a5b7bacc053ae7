package import HTTPServer
import PushContract

extension DeactivationLimiterStore {
    /// What a person decides of the tokens that a limiter deferred.
    package enum Decision: Sendable {
        case confirm
        case undo
    }

    /// Closes a limiter, with an entry in the audit: how many tokens that changed; nil when no such limiter is open. Throws 403 when its
    /// app is none of `apps`.
    package func close(_ id: Int64, _ decision: Decision, apps: KeyApps = .all, recording audit: AuditRecorder) async throws -> Int? {
        guard let limiter = try await open().first(where: { $0.id == id }) else { return nil }
        try apps.require(limiter.scope.app)
        let (action, changed) =
            switch decision {
            case .confirm: (AuditAction.confirmDeactivations, try await confirm(id, by: audit.actor.name))
            case .undo: (AuditAction.undoDeactivations, try await undo(id, by: audit.actor.name))
            }
        guard let changed else { return nil }
        try await audit.note(
            action,
            "limiter \(id)",
            "\(changed) tokens",
            before: DeactivationLimiterDocument(limiter),
            after: ["tokens": changed]
        )
        return changed
    }
}
