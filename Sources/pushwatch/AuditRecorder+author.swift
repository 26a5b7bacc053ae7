import Audit
import Foundation
import PushContract

extension AuditRecorder {
    /// For what a command changes, in the name of its author.
    init(by author: String, at now: Timestamp = .now()) {
        self.init(AuditActor(command: author, user: NSUserName()), at: now)
    }
}
