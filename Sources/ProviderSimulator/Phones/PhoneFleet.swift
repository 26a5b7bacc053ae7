import ServiceLifecycle

/// Steps phones again and again until shutdown: what `pushwatch up` runs.
package struct PhoneFleet: Service {
    private let phones: [SimulatedPhone]
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let prepare: @Sendable (SimulatedPhone) async -> Void

    /// - Parameter prepare: what each phone does first, such as opening the app and following a match.
    package init(
        _ phones: [SimulatedPhone],
        interval: Duration = .seconds(1),
        clock: any Clock<Duration> = ContinuousClock(),
        prepare: @escaping @Sendable (SimulatedPhone) async -> Void
    ) {
        self.phones = phones
        self.interval = interval
        self.clock = clock
        self.prepare = prepare
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            for phone in phones where !Task.isCancelled { await prepare(phone) }
            while !Task.isCancelled {
                for phone in phones { await phone.step() }
                try? await clock.sleep(for: interval)
            }
        }
    }
}
