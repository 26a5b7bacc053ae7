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

    private final class Sink: Sendable {
        private let state = Mutex<[String]>([])
        func add(_ line: String) { state.withLock { $0.append(line) } }
        var lines: [String] { state.withLock { $0 } }
    }
}
