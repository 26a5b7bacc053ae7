import ServiceKit
import Testing

@Suite struct BackoffTests {
    private static let backoff = Backoff(base: .seconds(5), minimum: .seconds(2), cap: .seconds(60))

    @Test(
        "the ceiling doubles with each failure up to the cap",
        arguments: [(0, 5), (1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (1_000, 60)]
    )
    func ceiling(failures: Int, seconds: Int) {
        #expect(Self.backoff.ceiling(failures: failures) == .seconds(seconds))
    }

    @Test("full jitter spreads the wait from the minimum to the minimum plus the ceiling")
    func jitter() {
        #expect(Self.backoff.wait(failures: 2, random: 0) == .seconds(2))
        #expect(Self.backoff.wait(failures: 2, random: 0.5) == .seconds(7))
        #expect(Self.backoff.wait(failures: 2, random: 1) == .seconds(12))
        #expect(Self.backoff.wait(failures: 2, random: 7) == .seconds(12))
        #expect(Self.backoff.wait(failures: 2, random: -1) == .seconds(2))
    }
}
