package import Logging

/// An error that may come from an outage of something which is watched: `DatabaseHeartbeat` logs once that the database is away, and once
/// that it is back.
package protocol WatchedOutage: Error {
    var isWatchedOutage: Bool { get }
}

extension Logger.Level {
    /// This level; `debug` for an error of a watched outage, which every task would otherwise log at each of its tries.
    package func unlessOutage(_ error: any Error) -> Logger.Level {
        (error as? any WatchedOutage)?.isWatchedOutage == true ? .debug : self
    }
}
