import Foundation
import HTTPServer
import Synchronization

/// What commands print: results on standard output, everything else on standard error; progress in place on a terminal.
package enum Terminal {
    package static let isInteractive = isatty(2) == 1

    package static func printLine(_ text: String) { write(text + "\n", to: 1) }

    package static func printError(_ text: String) { write(text + "\n", to: 2) }

    /// What a long measurement does now: one line each, on a terminal or not.
    package static func note(_ text: String) { write(text + "\n", to: 2) }

    /// When the last plain line of progress was written.
    private static let lastLine = Mutex(ContinuousClock.now)
    private static let pace: Duration = .seconds(5)

    /// A line of progress: replaced in place on a terminal; elsewhere a plain line every five seconds, and the last one.
    package static func progress(_ text: String, isLast: Bool = false) {
        if isInteractive {
            write("\r\u{1B}[2K" + text + (isLast ? "\n" : ""), to: 2)
        } else if !text.isEmpty, isLast || isDue {
            write(text + "\n", to: 2)
        }
    }

    private static var isDue: Bool {
        lastLine.withLock { last in
            guard ContinuousClock.now - last >= pace else { return false }
            last = .now
            return true
        }
    }

    /// Writes to the descriptor without a buffer, so that a pipe sees every line at once.
    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if errno == EAGAIN {
                // A terminal or pipe that another program has made non-blocking.
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&entry, 1, -1)
            } else if errno != EINTR {
                // Of errors on standard error nobody can be informed.
                if descriptor == 1 { outputFailed(errno) }
                return
            }
        }
    }
}

extension Terminal {
    private struct Output {
        /// The number of the first error of standard output.
        var failure: Int32?
        var onFailure: @Sendable () -> Void = {}
    }

    private static let output = Mutex(Output())

    private static func outputFailed(_ error: Int32) {
        let onFailure = output.withLock { output -> @Sendable () -> Void in
            guard output.failure == nil else { return {} }
            output.failure = error
            return output.onFailure
        }
        onFailure()
    }

    /// `body` is called when standard output can no longer be written: nothing that a command goes on to do is seen.
    static func onOutputFailure(_ body: @escaping @Sendable () -> Void) { output.withLock { $0.onFailure = body } }

    /// Ends the process if some of standard output is missing: as SIGPIPE does when the reader has ended, else with an error.
    static func endIfOutputFailed() {
        guard let error = output.withLock({ $0.failure }) else { return }
        if error == EPIPE {
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        printError("Standard output cannot be written: \(String(cString: strerror(error))). What the command did before is done.")
        end(3)
    }

    /// Ends the process at once: what `exit` runs would free what threads of an HTTP client still use.
    static func end(_ code: Int32) -> Never {
        fflush(nil)
        _exit(code)
    }
}

extension Terminal {
    /// Prints a document as the API returns it, indented.
    package static func printLine(json document: some Encodable) throws {
        let encoder = JSONEncoder.pushwatch
        encoder.outputFormatting.insert(.prettyPrinted)
        printLine(String(decoding: try encoder.encode(document), as: UTF8.self))
    }
}
