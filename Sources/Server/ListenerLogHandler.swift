import Logging

extension Logger {
    /// Of a listener: without what Hummingbird says of its start and end.
    var forListener: Logger {
        let handler = ListenerLogHandler(handler: self.handler)
        return Logger(label: label) { _ in handler }
    }
}

/// Leaves out lines of Hummingbird's that repeat our own, or come before the reason of a start that fails.
private struct ListenerLogHandler: LogHandler {
    var handler: any LogHandler

    var logLevel: Logger.Level {
        get { handler.logLevel }
        set { handler.logLevel = newValue }
    }
    var metadata: Logger.Metadata {
        get { handler.metadata }
        set { handler.metadata = newValue }
    }
    var metadataProvider: Logger.MetadataProvider? {
        get { handler.metadataProvider }
        set { handler.metadataProvider = newValue }
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { handler[metadataKey: key] }
        set { handler[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        let isLeftOut = event.level == .info || event.message == "Waiting on child channel: CancellationError()"
        if isLeftOut, event.source == "HummingbirdCore" { return }
        handler.log(event: event)
    }
}
