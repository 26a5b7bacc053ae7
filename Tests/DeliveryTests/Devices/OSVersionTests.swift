import Delivery
import Testing

@Suite("System versions")
struct OSVersionTests {
    @Test(
        "versions are read as apps write them, and compare by number",
        arguments: [
            ("17.2", true), ("17.10", true), ("18", true), ("iOS 17.4.1", true), ("17.1.9", false), ("9.3", false),
            ("Version 17.2 (Build 21C62)", true),
        ]
    )
    func comparison(text: String, startsByPush: Bool) throws {
        let version = try #require(OSVersion(text))
        #expect((version >= .pushToStart) == startsByPush)
    }

    @Test("what holds no number is no version", arguments: ["", "unknown", "beta"])
    func none(text: String) { #expect(OSVersion(text) == nil) }
}
