import Foundation
import Logging
import Synchronization
import Testing

@testable import HTTPServer

@Suite struct LogTests {
    private let line = LogLine(
        time: Date(timeIntervalSince1970: 0.5),
        level: .warning,
        label: "pushwatch",
        message: "Two\nlines \"here\"",
        metadata: [(key: "requestId", value: "a b"), (key: "rows", value: "5")]
    )

    @Test("an event is one line in every format")
    func formats() {
        #expect(line.text(.human) == #"00:00:00.500 WARNING  Two\nlines "here" requestId="a b" rows=5"#)
        #expect(
            line.text(.logfmt)
                == #"time=1970-01-01T00:00:00.500Z level=warning logger=pushwatch msg="Two\nlines \"here\"" requestId="a b" rows=5"#
        )
        #expect(
            line.text(.json)
                == #"{"level":"warning","logger":"pushwatch","msg":"Two\nlines \"here\"","requestId":"a b","rows":"5","time":"1970-01-01T00:00:00.500Z"}"#
        )
    }

    @Test("no text in a line for people reorders it, hides it or reaches a terminal's controls", arguments: [LogFormat.human, .logfmt])
    func invisible(format: LogFormat) {
        var line = line
        line.message = "a\u{202E}b\u{1B}[2J"
        line.metadata = [(key: "app", value: "com.\u{202E}x\u{9B}31m"), (key: "two", value: "c \u{2028}d")]
        let text = line.text(format)
        #expect(text.contains("a⟨U+202E⟩b⟨U+001B⟩[2J") && text.contains("app=com.⟨U+202E⟩x⟨U+009B⟩31m"))
        #expect(text.hasSuffix(#"two="c ⟨U+2028⟩d""#))
    }

    @Test(
        "secrets do not reach the log",
        arguments: [
            ("key pw_ab12_Zm9v-_YmFy used", "key pw_ab12_*** used"),
            ("postgres://push:hunter2@db:5432/x", "postgres://push:***@db:5432/x"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
            ("secret pwd_Zm9v-_YmFy, whsec_Zm9v+/YmFy=", "secret pwd_***, whsec_***"),
            ("jwt eyJhbGciOi.eyJzdWIi.sig-_ end", "jwt *** end"), ("nothing to hide", "nothing to hide"),
        ]
    )
    func redaction(text: String, redacted: String) {
        #expect(Redaction.redacted(text) == redacted)
    }

    @Test("a logger's own metadata, the event's and secrets among them are printed as they should be")
    func handler() {
        let sink = Sink()
        var logger = Logger(label: "test") { label in
            StandardErrorLogHandler(logLevel: .info, label: label, format: .logfmt, write: { sink.add($0) })
        }
        logger[metadataKey: "a"] = "1"
        logger.debug("not printed")
        logger.info("hello", metadata: ["b": "2", "dbPassword": "hunter2"])
        let lines = sink.lines
        #expect(lines.count == 1)
        #expect(lines.first?.hasSuffix("level=info logger=test msg=hello a=1 b=2 dbPassword=***\n") == true)
    }

    @Test("a log that nobody reads delays nobody: lines are dropped, and their number is written when it is read again")
    func unread() throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let output = LogOutput(descriptor: ends[1]) { "\($0) missing\n" }
        // More than a pipe takes; one of them does not fit into what is left.
        let lines = (1...40).map { "\($0) " + String(repeating: "x", count: 9_000) + "\n" }
        for line in lines { output.write(line) }
        func read() -> String {
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            let count = Foundation.read(ends[0], &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
        }
        let first = read()
        output.write("again\n")
        let second = read()
        let whole = lines.prefix { first.contains($0) }.count
        #expect(whole > 0 && whole < 40)
        #expect(second.hasSuffix("\(40 - whole) missing\nagain\n"))
        let isCut = !first.hasSuffix("\n")
        #expect(second.hasPrefix("\n") == isCut)
        output.write("last\n")
        #expect(read() == "last\n")
    }

    private final class Sink: Sendable {
        private let state = Mutex<[String]>([])
        func add(_ line: String) { state.withLock { $0.append(line) } }
        var lines: [String] { state.withLock { $0 } }
    }
}
