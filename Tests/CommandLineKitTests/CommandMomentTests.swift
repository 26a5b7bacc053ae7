import CommandLineKit
import PushContract
import Testing

@Suite("Moments on the command line")
struct CommandMomentTests {
    private let now = Timestamp(seconds: 1_800_000_000)

    @Test("a duration counts from now, a day from its beginning in UTC, a date-time as it is")
    func read() throws {
        #expect(try CommandMoment.parse("90d").moment(now: now) == now + .seconds(90 * 86_400))
        #expect(try CommandMoment.parse("2027-01-31").moment(now: now) == Timestamp(rfc3339: "2027-01-31T00:00:00Z"))
        #expect(try CommandMoment.parse("2027-01-31T10:00:00+02:00").moment(now: now) == Timestamp(rfc3339: "2027-01-31T08:00:00Z"))
    }

    @Test(
        "where no duration is taken, a day and a date-time are",
        arguments: ["2027-01-31", "2027-01-31T00:00:00Z", "2027-01-31T01:00:00+01:00"]
    )
    func time(text: String) {
        #expect(Timestamp(commandLine: text) == Timestamp(rfc3339: "2027-01-31T00:00:00Z"))
        #expect(Timestamp(commandLine: "90d") == nil)
    }

    @Test("what is neither is rejected", arguments: ["", "soon", "90", "2027-13-01", "31.1.2027", "-3d"])
    func rejected(text: String) {
        let error = #expect(throws: (any Error).self) { try CommandMoment.parse(text) }
        #expect("\(error.map(String.init(describing:)) ?? "")".contains("\"\(text)\" is neither a duration such as 90d, nor a date"))
    }

    @Test(
        "an age is in the largest unit that has passed",
        arguments: [
            (0, "just now"), (59, "just now"), (60, "1 minute ago"), (3_599, "59 minutes ago"), (7_200, "2 hours ago"),
            (86_400, "1 day ago"), (3 * 86_400 + 80_000, "3 days ago"), (-5, "just now"),
        ]
    )
    func age(seconds: Int64, text: String) {
        #expect((now - .seconds(seconds)).age(now: now) == text)
    }
}
