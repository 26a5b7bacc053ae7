package import Logging
import Postgres
package import ServiceKit
import ServiceLifecycle

/// Stores the deliveries of sends to many people, portion by portion, in turns between the sends of a class.
///
/// Every process that sends runs one; a portion is stored by one of them. A send whose portion fails is tried again in the next turn, after
/// the others.
package struct FanOutService: Service {
    private let store: SendStore
    private let wake: WakeSignal
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let logger: Logger

    /// - Parameter wake: the dispatcher's.
    package init(
        store: SendStore,
        wake: WakeSignal,
        interval: Duration = .seconds(1),
        clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger
    ) {
        self.store = store
        self.wake = wake
        self.interval = interval
        self.clock = clock
        self.logger = logger
    }

    package func run() async throws {
        try await PeriodicService("fan-out", every: interval, clock: clock, logger: logger) { try await storeAll() }.run()
    }

    /// Returns when nothing is left for this instance.
    func storeAll() async throws {
        var passedOver: Set<String> = []
        while let sendId = try await store.nextFanOut(except: passedOver) {
            do {
                guard let deliveries = try await store.storeNext(of: sendId) else {
                    passedOver.insert(sendId)
                    continue
                }
                if deliveries > 0 { wake.signal() }
            } catch let error where !(error is CancellationError) {
                // Where the database is away the look for the next one fails, too.
                logger.log(
                    level: .error.unlessOutage(error),
                    "deliveries of a send could not be stored",
                    metadata: ["sendId": "\(sendId)", "error": "\(error)"]
                )
                passedOver.insert(sendId)
            }
        }
    }
}
