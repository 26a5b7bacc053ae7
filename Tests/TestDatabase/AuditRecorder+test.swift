package import Audit
package import PushContract

extension AuditRecorder {
    /// Somebody on the command line.
    package static func test(_ name: String = "test", at now: Timestamp = .now()) -> AuditRecorder {
        AuditRecorder(AuditActor(command: name, user: name), at: now)
    }
}
