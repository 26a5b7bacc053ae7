import AlertRules
import Foundation
import TestDatabase
import Testing

@testable import Alerting

@Suite("alerts/receivers.yml")
struct ReceiverFileTests {
    private let text = """
        receivers:
          - name: on-call
            webhook: { url: "https://example.org/${ROOM}", secret: "${SECRET}" }
          - name: quiet
            log: {}
        routes:
          - severity: [critical, page]
            receivers: [on-call]
          - receivers: [quiet]
        """

    @Test("receivers, routes, and values from the environment")
    func reads() throws {
        let set = try ReceiverFile.parse(text, environment: ["ROOM": "r1", "SECRET": "s1"])
        #expect(set.receivers == [.webhook("on-call", url: "https://example.org/r1", secret: "s1"), .init(name: "quiet", kind: .log)])
        #expect(set.names(for: .page) == ["on-call", "quiet"])
        #expect(set.names(for: .ticket) == ["quiet"])
    }

    @Test("the example that is shipped can be read")
    func example() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let path = root.appendingPathComponent("alerts/receivers.example.yml").path
        let set = try ReceiverFile.read(path: path, environment: ["ALERT_WEBHOOK_SECRET": "s"])
        #expect(set.names(for: .page) == ["on-call", "log"])
        #expect(set.names(for: .ticket) == ["log"])
    }

    @Test("an alert that no route fits goes to everybody")
    func fallback() {
        let set = ReceiverSet(
            receivers: [.log, .webhook("hook", url: "http://h")],
            routes: [AlertRoute(severities: [.page], receivers: ["hook"])]
        )
        #expect(set.names(for: .info) == ["log", "hook"])
    }

    @Test(
        "what cannot be meant is an error with its line",
        arguments: [
            ("receivers:\n  - name: a\n    webhok: {}", 3), ("receivers:\n  - webhook: { url: 'https://x' }", 2),
            ("receivers:\n  - name: a\n    webhook: { url: 'ftp://x' }", 3),
            ("receivers:\n  - name: a\n    webhook: { url: 'https://${NOT_SET}' }", 3),
            ("receivers:\n  - name: a\n    log: {}\nroutes:\n  - receivers: [b]", 5),
            ("receivers:\n  - name: a\n    log: {}\nroutes:\n  - severity: [loud]\n    receivers: [a]", 5),
        ]
    )
    func faults(_ text: String, _ line: Int) {
        let fault = #expect(throws: ReceiverFile.Fault.self) { try ReceiverFile.parse(text) }
        #expect(fault?.line == line, "\(fault.map(String.init(describing:)) ?? "")")
    }

    @Test("a broken file keeps the old receivers")
    func broken() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("receivers-\(UUID().uuidString).yml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let book = ReceiverBook(fixed: [.log], file: path, environment: ["ROOM": "r1", "SECRET": "s1"], logger: .silent)
        #expect(book.set.receivers.map(\.name) == ["log"])
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        book.refresh()
        #expect(book.set.receivers.map(\.name) == ["log", "on-call", "quiet"])
        try "receivers: 3".write(toFile: path, atomically: true, encoding: .utf8)
        book.refresh()
        #expect(book.set.receivers.count == 3)
        #expect(book.fault?.contains("expected a list") == true)
    }
}
