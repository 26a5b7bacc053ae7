import Access
import Foundation
import HTTPServer
import Postgres
import PushContract

extension PostgresPool {
    /// For what a command changes, in the name of its author.
    func audit(by author: String, at now: Timestamp = .now()) -> AuditRecorder {
        AuditLog(self).trail.by(AuditActor(command: author, user: NSUserName()), at: now)
    }
}
