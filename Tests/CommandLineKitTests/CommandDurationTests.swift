import CommandLineKit
import Testing

@Suite("Durations on the command line")
struct CommandDurationTests {
    @Test(
        "a whole number and a unit, printed in the largest unit that divides it",
        arguments: [
            ("30s", 30, "30s"), ("15m", 900, "15m"), ("2h", 7200, "2h"), ("7d", 604_800, "7d"), ("120s", 120, "2m"), ("0s", 0, "0s"),
        ]
    )
    func read(text: String, seconds: Int64, printed: String) throws {
        let duration = try CommandDuration(parsing: text)
        #expect(duration.seconds == seconds)
        #expect(duration.description == printed)
    }

    @Test("a bare number is rejected with the unit to add")
    func bareNumber() {
        let error = #expect(throws: (any Error).self) { try CommandDuration(parsing: "60") }
        #expect("\(error.map(String.init(describing:)) ?? "")".contains("\"60\" has no unit; write 60s"))
    }

    @Test("what is no duration is rejected", arguments: ["", "s", "1.5h", "-3m", "1h30m", "2w", "999999999999999999999d", "4000d", "٣s"])
    func rejected(text: String) {
        let error = #expect(throws: (any Error).self) { try CommandDuration(parsing: text) }
        #expect("\(error.map(String.init(describing:)) ?? "")".contains("\"\(text)\" is not a duration; write a whole number and its unit"))
    }

    @Test("an option's range is in the error")
    func range() throws {
        let parse = CommandDuration.within(.minutes(1)...(.hours(24)))
        #expect(try parse("24h") == .hours(24))
        let error = #expect(throws: (any Error).self) { try parse("25h") }
        #expect("\(error.map(String.init(describing:)) ?? "")".contains("from 1m to 1d"))
    }
}
