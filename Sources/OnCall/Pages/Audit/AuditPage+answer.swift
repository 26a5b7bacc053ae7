import Audit
import Hummingbird

extension AuditPage {
    @Sendable
    static func answer(_ call: PageCall) async throws -> Response {
        let entries = try await AuditLog(call.site.pool).latest(limit)
        return call.html(.audit, AuditPage(entries, reader: call.name, now: call.now))
    }
}
