package import HTTPServer
package import PushContract

extension ThrottleStore {
    /// Sets throttles, one entry in the audit for each.
    package func set(_ throttles: [SendThrottle], recording audit: AuditRecorder) async throws {
        for (replaced, stored) in try await set(throttles) {
            try await audit.note(
                .addThrottle,
                stored.subject,
                stored.summary,
                before: replaced.map(ThrottleDocument.Throttle.init),
                after: ThrottleDocument.Throttle(stored)
            )
        }
    }

    /// Lifts throttles, one entry in the audit for each; how many there were.
    package func remove(provider: Provider?, app: String?, recording audit: AuditRecorder) async throws -> Int {
        let removed = try await remove(provider: provider, app: app)
        for throttle in removed {
            try await audit.note(.removeThrottle, throttle.subject, before: ThrottleDocument.Throttle(throttle))
        }
        return removed.count
    }
}
