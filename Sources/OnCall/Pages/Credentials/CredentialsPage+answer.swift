import Hummingbird
import ServiceKit

extension CredentialsPage {
    /// The credentials are checked now; the result is shown and not stored.
    @Sendable
    static func check(_ call: PageCall) async throws -> Response {
        let back = ReturnPath(try await call.form()["back"])
        let checks = try await call.site.credentials.check()
        // A provider that does not answer takes longer than a request has for the database, which is not at fault.
        WorkDeadline.current?.restart()
        try await call.site.actions.noteCheck(checks, recording: try call.audit())
        // The check takes seconds.
        return call.html(.credentials, CredentialsPage(checks, back: back, reader: call.name, now: call.site.clock()))
    }
}
