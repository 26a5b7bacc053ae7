import Alerting
import PushContract
import Sending

extension SendStore {
    /// The backlog as an alert carries it.
    @Sendable
    func backlogNumbers(now: Timestamp) async throws -> BacklogNumbers {
        let backlog = try await backlog()
        var drain: Int64?
        if case .after(let duration) = backlog.drain { drain = duration.components.seconds }
        return BacklogNumbers(
            waiting: Int64(backlog.ready + backlog.retrying),
            oldestSeconds: backlog.oldestReadyAt.map { (backlog.at - $0).components.seconds },
            drainSeconds: drain
        )
    }
}
