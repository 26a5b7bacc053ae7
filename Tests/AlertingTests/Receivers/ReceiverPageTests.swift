import Foundation
import Testing

@Suite("One alert as each receiver gets it")
struct ReceiverPageTests {
    /// Other tests compare the golden files with the receivers' code.
    @Test(
        "docs/alert-receivers.md shows what the receivers send, byte for byte",
        arguments: ["slack", "pagerduty", "alertmanager", "webhook", "ntfy", "email"]
    )
    func page(_ receiver: String) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: tests.appendingPathComponent("../docs/alert-receivers.md"), encoding: .utf8)
        // Receivers that group alerts are shown with a group too.
        for kind in ["firing", "resolved"] + (["pagerduty", "alertmanager"].contains(receiver) ? [] : ["group"]) {
            let name = "\(receiver)-\(kind)." + (receiver == "email" ? "eml" : "json")
            let golden = try String(contentsOf: tests.appendingPathComponent("Golden/\(name)"), encoding: .utf8)
            // A page has the line ends of text files.
            let shown = golden.replacing("\r\n", with: "\n").trimmingCharacters(in: .newlines)
            #expect(shown.count > 200 && page.contains("\n" + shown + "\n```"), "\(name) is not in the page as it is sent")
        }
    }
}
