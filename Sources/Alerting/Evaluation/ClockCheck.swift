import Logging
import PushContract
import Synchronization

/// Logs when this machine's clock begins to differ from the database's, and when it no longer does.
final class ClockCheck: Sendable {
    /// How far they may differ without an error in the log.
    private static let limit = Duration.seconds(30)

    private let logger: Logger
    private let isOff = Mutex(false)

    init(logger: Logger) { self.logger = logger }

    func compare(_ now: Timestamp, withDatabase databaseNow: Timestamp) {
        let behind = databaseNow - now
        let isOff = behind > Self.limit || behind < Duration.zero - Self.limit
        let wasOff = self.isOff.withLock { state in
            defer { state = isOff }
            return state
        }
        guard isOff != wasOff else { return }
        let metadata: Logger.Metadata = ["behind": "\(behind)"]
        if isOff {
            logger.error("the clock of this machine differs from the database's; set it right", metadata: metadata)
        } else {
            logger.notice("the clock of this machine agrees with the database's again", metadata: metadata)
        }
    }
}
