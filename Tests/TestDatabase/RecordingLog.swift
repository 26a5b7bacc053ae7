package import Logging
import Synchronization

/// Keeps what a logger is told, down to `debug`, for a test to look at. Safe to use from any task.
package final class RecordingLog: Sendable {
    private let kept = Mutex<[LogEvent]>([])
    private let keeps: @Sendable (LogEvent) -> Bool

    /// `keeps`: which of it; everything without one.
    package init(keeps: @escaping @Sendable (LogEvent) -> Bool = { _ in true }) { self.keeps = keeps }

    /// In the order in which they came.
    package var events: [LogEvent] { kept.withLock { $0 } }

    package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.debug

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if log.keeps(event) { log.kept.withLock { $0.append(event) } }
        }
    }
}
