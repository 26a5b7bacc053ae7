import Delivery
import PushContract
import Testing

@Suite("ThrottleDecision")
struct ThrottleDecisionTests {
    static let start = Timestamp(seconds: 1_770_000_000)

    @Test(
        "what a bucket lets through",
        arguments: [
            // perMinute, saved up, seconds since, wanted, granted
            (600.0, 0.0, 1.0, 100, 10),
            (600.0, 0.0, 60.0, 1000, 50),
            (600.0, 50.0, 0.0, 20, 20),
            (0.0, 0.0, 15.0, 10, 1),
            (0.0, 0.0, 14.9, 10, 0),
            (0.0, 0.0, 3600.0, 10, 2),
            (2.0, 0.0, 15.0, 10, 1),
            (600.0, 3.0, -30.0, 10, 3),
            (600.0, 50.0, 0.0, 0, 0),
        ]
    )
    func table(perMinute: Double, allowance: Double, seconds: Double, wanted: Int, granted: Int) {
        let bucket = ThrottleDecision.Bucket(perMinute: perMinute, allowance: allowance, refilledAt: Self.start)
        let taken = ThrottleDecision.take(wanted, from: bucket, now: Self.start + .seconds(seconds))
        #expect(taken.granted == granted)
        #expect(taken.bucket.allowance >= 0)
        #expect(taken.bucket.refilledAt >= Self.start)
    }

    @Test(
        "an hour of asking every second gets the rate, and never less than the minimum",
        arguments: [(0.0, 240), (4.0, 240), (60.0, 3600)]
    )
    func rate(perMinute: Double, expected: Int) {
        var bucket = ThrottleDecision.Bucket(perMinute: perMinute, allowance: 0, refilledAt: Self.start)
        var total = 0
        for second in 1...3600 {
            let taken = ThrottleDecision.take(100, from: bucket, now: Self.start + .seconds(second))
            bucket = taken.bucket
            total += taken.granted
        }
        #expect(abs(total - expected) <= 1)
    }
}
