import PushContract
import Testing

@Suite("Timestamps")
struct TimestampTests {
    @Test(
        "RFC 3339 is read to the microsecond and written in UTC",
        arguments: [
            ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"),
            ("2026-02-12T09:30:00.25+01:00", 1_770_885_000_250_000, "2026-02-12T08:30:00.250000Z"),
            ("2024-02-29T23:59:59.999999999Z", 1_709_251_199_999_999, "2024-02-29T23:59:59.999999Z"),
            ("1969-12-31T23:59:59.5Z", -500_000, "1969-12-31T23:59:59.500000Z"),
            ("2000-01-01t00:00:00z", 946_684_800_000_000, "2000-01-01T00:00:00Z"),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000, "0001-01-01T00:00:00Z"),
        ] as [(String, Int64, String)]
    )
    func reading(text: String, microseconds: Int64, written: String) {
        #expect(Timestamp(rfc3339: text)?.microseconds == microseconds)
        #expect(Timestamp(microseconds: microseconds).rfc3339 == written)
    }

    @Test(
        "what is not RFC 3339 with an offset is refused",
        arguments: [
            "", "2026-02-12", "2026-02-12T09:30:00", "2026-02-30T00:00:00Z", "2025-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
            "2026-02-12T24:00:00Z", "2026-02-12T23:59:60Z", "2026-02-12T09:30:00.Z", "2026-02-12T09:30:00+0100", "2026-02-12T09:30:00Z ",
            "20260212T093000Z", "2026-2-12T09:30:00Z", "0000-01-01T00:00:00Z",
        ]
    )
    func refused(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test("every day of eight hundred years reads as what was written")
    func roundTrip() {
        for day in stride(from: Int64(-150_000), through: 150_000, by: 1) {
            let moment = Timestamp(seconds: day * 86_400 + 3_723)
            #expect(Timestamp(rfc3339: moment.rfc3339) == moment)
        }
    }
}
