import Foundation
package import Logging

/// Sets up logging for the process.
package enum LogBootstrap {
    /// Sends every logger's lines to standard error. Call once, first thing; a second call stops the process (swift-log's rule).
    /// - Parameter format: nil picks `human` on a terminal and `logfmt` elsewhere.
    package static func bootstrap(level: Logger.Level = .info, format: LogFormat? = nil) {
        let format = format ?? .automatic
        let output = LogOutput(descriptor: STDERR_FILENO) { dropped in
            LogLine(
                time: Date(),
                level: .warning,
                label: "pushwatch",
                message: "lines of this log are missing here: nobody read it",
                metadata: [(key: "lines", value: "\(dropped)")]
            ).text(format) + "\n"
        }
        LoggingSystem.bootstrap { label in
            StandardErrorLogHandler(logLevel: level, label: label, format: format, write: output.write)
        }
    }
}
