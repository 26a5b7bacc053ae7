import Logging
import ServiceKit
import ServiceLifecycle

/// Steps phones again and again until shutdown, each by one task at a time: what `pushwatch-dev up` runs.
package struct PhoneFleet: Service {
    private let phones: [SimulatedPhone]
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let live: @Sendable (SimulatedPhone) async -> Void

    /// - Parameter live: what the person who holds a phone does before each step, such as following a match. Nobody else may use the phones
    ///   meanwhile.
    package init(
        _ phones: [SimulatedPhone],
        interval: Duration = .seconds(1),
        clock: any Clock<Duration> = ContinuousClock(),
        live: @escaping @Sendable (SimulatedPhone) async -> Void
    ) {
        self.phones = phones
        self.interval = interval
        self.clock = clock
        self.live = live
    }

    package func run() async throws {
        try await PeriodicService("phones", every: interval, clock: clock, logger: Logger(label: "pushwatch.phones")) { await step() }.run()
    }

    /// All phones once, side by side: one with a slow network delays no other.
    package func step() async {
        await withDiscardingTaskGroup { group in
            for phone in phones {
                group.addTask {
                    await live(phone)
                    await phone.step()
                }
            }
        }
    }
}
