import PushContract
import Testing

@testable import ServiceKit

@Suite struct RetryAfterTests {
    private static let now = Timestamp(rfc3339: "2026-10-21T07:28:00Z") ?? Timestamp(seconds: 0)

    @Test(
        "Retry-After is seconds or a date; anything else is nothing",
        arguments: [
            ("0", .zero), ("30", .seconds(30)), (" 7 ", .seconds(7)), ("999999", .seconds(86_400)),
            ("99999999999999999999", .seconds(86_400)), ("Wed, 21 Oct 2026 07:30:00 GMT", .seconds(120)),
            ("Wed, 21 Oct 2026 07:00:00 GMT", .zero), ("soon", nil), ("-3", nil), ("", nil), (nil, nil),
        ] as [(String?, Duration?)]
    )
    func wait(header: String?, expected: Duration?) {
        #expect(RetryAfter.wait(header, now: Self.now, longest: .seconds(86_400)) == expected)
    }
}
