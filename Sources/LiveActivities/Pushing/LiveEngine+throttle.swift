import Delivery
import PushContract
import Synchronization

extension LiveEngine {
    /// Takes what waits out of the throttles' allowance, which all instances and all sends share; what was not used goes back first.
    func refillThrottles() async throws {
        let (throttles, waiting) = state.withLock { ($0.throttles.current, $0.fanOut.waiting + $0.fanOut.backingOffCount) }
        for throttle in throttles {
            try await stores.throttles.refund(state.withLock { $0.throttles.takeBack(from: throttle) }, to: throttle)
            guard waiting > 0 else { continue }
            let granted = try await stores.throttles.take(min(waiting, LiveEngine.throttleBatch), from: throttle)
            state.withLock { $0.throttles.allow(granted, by: throttle) }
        }
    }

    private static let throttleBatch = 2000
}
