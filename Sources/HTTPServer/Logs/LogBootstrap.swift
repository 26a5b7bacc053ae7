import Foundation
package import Logging

/// Sets up logging for the process.
package enum LogBootstrap {
    /// Sends every logger's lines to standard error. Call once, first thing; a second call stops the process (swift-log's rule).
    /// - Parameter format: nil picks `human` on a terminal and `logfmt` elsewhere.
    package static func bootstrap(level: Logger.Level = .info, format: LogFormat? = nil) {
        let format = format ?? .automatic
        LoggingSystem.bootstrap { label in
            StandardErrorLogHandler(logLevel: level, label: label, format: format, write: writeToStandardError)
        }
    }

    /// One `write` a line, so that lines do not mix. An error is ignored: there is nowhere left to report it.
    private static func writeToStandardError(_ line: String) {
        var line = line
        line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let written = Foundation.write(STDERR_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if written <= 0 { return }
                rest = rest.dropFirst(written)
            }
        }
    }
}
