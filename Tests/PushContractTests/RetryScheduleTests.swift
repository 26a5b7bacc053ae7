import PushContract
import Testing

@Suite("The client's retry schedule")
struct RetryScheduleTests {
    private let start = Timestamp(seconds: 1_000_000)

    @Test("tries stand at 0, 5, 35, 155, 755, 2,555 … 85,355 seconds: 52 of them; then it needs attention at 86,400")
    func offsets() {
        var offsets: [Int64] = [0]
        var failures = 0
        while true {
            failures += 1
            let failedAt = start + .seconds(offsets.last!)
            switch RetrySchedule.next(enqueuedAt: start, failures: failures, failedAt: failedAt) {
            case .retry(let at): offsets.append(at.seconds - start.seconds)
            case .needsAttention(let at):
                #expect(at.seconds - start.seconds == 86_400)
                #expect(offsets.count == 52)
                #expect(Array(offsets.prefix(6)) == [0, 5, 35, 155, 755, 2555])
                #expect(offsets.last == 85_355)
                return
            }
        }
    }

    @Test("Retry-After raises the wait and never lowers it")
    func retryAfter() {
        #expect(
            RetrySchedule.next(enqueuedAt: start, failures: 1, failedAt: start, retryAfter: .seconds(60))
                == .retry(at: start + .seconds(60))
        )
        #expect(
            RetrySchedule.next(enqueuedAt: start, failures: 2, failedAt: start, retryAfter: .seconds(1)) == .retry(at: start + .seconds(30))
        )
        #expect(
            RetrySchedule.next(enqueuedAt: start, failures: 1, failedAt: start, retryAfter: .seconds(Int64.max))
                == .needsAttention(at: start + RetrySchedule.window)
        )
    }
}
