import Foundation

/// How log lines look.
package enum LogFormat: String, Sendable, CaseIterable {
    /// For people: time of day, level, message, then metadata.
    case human
    /// key=value pairs, for machines that people read too.
    case logfmt
    /// One JSON object a line.
    case json

    /// `human` on a terminal, `logfmt` anywhere else.
    static var automatic: LogFormat { isatty(STDERR_FILENO) == 1 ? .human : .logfmt }
}
