import Foundation
import Testing

@Suite("One alert as each receiver gets it")
struct ReceiverPageTests {
    /// The golden files are held against the receivers' own code by the tests beside this one.
    @Test(
        "docs/alert-receivers.md shows what the receivers send, byte for byte",
        arguments: ["slack", "pagerduty", "alertmanager", "webhook", "ntfy", "email"]
    )
    func page(_ receiver: String) throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: tests.appendingPathComponent("../docs/alert-receivers.md"), encoding: .utf8)
        // Those that are told of several alerts at once are shown with that too.
        for kind in ["firing", "resolved"] + (["pagerduty", "alertmanager"].contains(receiver) ? [] : ["group"]) {
            let name = "\(receiver)-\(kind)." + (receiver == "email" ? "eml" : "json")
            let golden = try String(contentsOf: tests.appendingPathComponent("Golden/\(name)"), encoding: .utf8)
            // A page has the line ends of text files.
            let shown = golden.replacing("\r\n", with: "\n").trimmingCharacters(in: .newlines)
            #expect(shown.count > 200 && page.contains("\n" + shown + "\n```"), "\(name) is not in the page as it is sent")
        }
    }
}
