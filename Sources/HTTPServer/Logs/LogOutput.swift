import Foundation
import Metrics
import Synchronization

/// Writes lines to a descriptor, whole and one at a time. Where nobody reads, as behind a pipe whose reader has stopped, it waits for a
/// moment and then drops lines: a thread that blocks in `write` is one of the few that serve requests, evaluate alerts and send.
///
/// Safe to use from any thread.
final class LogOutput: Sendable {
    private struct State {
        var dropped = 0
        /// The end of the last line could not be written.
        var isInLine = false
        /// Before that it waits for no reader.
        var waitsAgainAt = ContinuousClock.now
    }

    /// What a pipe that `poll` calls writable takes without blocking (PIPE_BUF).
    private static let portion = 4096
    /// How long it waits for a reader, and how long it does not afterwards.
    private static let patience: Duration = .milliseconds(100)
    private static let pause: Duration = .seconds(10)
    private static let droppedLines = Counter(label: "pushwatch_log_lines_dropped_total")

    private let descriptor: Int32
    private let missing: @Sendable (_ lines: Int) -> String
    private let state = Mutex(State())

    /// - Parameter missing: the line that says how many are missing, before the next one.
    init(descriptor: Int32, missing: @escaping @Sendable (_ lines: Int) -> String) {
        self.descriptor = descriptor
        self.missing = missing
    }

    func write(_ line: String) {
        let isWritten = state.withLock { state in
            var text = line
            if state.dropped > 0 { text = missing(state.dropped) + text }
            if state.isInLine { text = "\n" + text }
            let all = text.utf8.count
            let written = write(text, &state)
            if written == all {
                state.dropped = 0
                state.isInLine = false
                return true
            }
            // Of a text that is cut the rest is not repeated.
            if written > 0 { state.isInLine = true }
            state.dropped += 1
            return false
        }
        if !isWritten { Self.droppedLines.increment() }
    }

    /// How many bytes were written.
    private func write(_ text: String, _ state: inout State) -> Int {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty, isReady(&state) {
                let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.portion))
                let written = Foundation.write(descriptor, part.baseAddress, part.count)
                // An error is ignored: there is nowhere left to report it.
                if written <= 0 { break }
                rest = rest.dropFirst(written)
            }
            return bytes.count - rest.count
        }
    }

    private func isReady(_ state: inout State) -> Bool {
        let now = ContinuousClock.now
        let mayWait = now >= state.waitsAgainAt
        var look = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&look, 1, mayWait ? Int32(Self.patience / .milliseconds(1)) : 0) > 0 { return true }
        if mayWait { state.waitsAgainAt = now + Self.patience + Self.pause }
        return false
    }
}
