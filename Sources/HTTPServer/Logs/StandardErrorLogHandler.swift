import Foundation
import Logging

/// Writes one line an event to standard error, whole lines even from several threads.
struct StandardErrorLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    let label: String
    let format: LogFormat
    let write: @Sendable (String) -> Void

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { _, new in new } }
        if let own = event.metadata { all.merge(own) { _, new in new } }
        if let error = event.error { all["error"] = "\(error)" }
        let pairs = all.sorted { $0.key < $1.key }.map { key, value in
            (key: key, value: Redaction.isSecret(key: key) ? "***" : Redaction.redacted(value.description))
        }
        let message = Redaction.redacted(event.message.description)
        write(LogLine(time: Date(), level: event.level, label: label, message: message, metadata: pairs).text(format) + "\n")
    }
}
