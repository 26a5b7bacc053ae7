package import Logging
import ServiceLifecycle

/// Runs a body again and again until graceful shutdown. A failure is logged, at `debug` if it is a `WatchedOutage`, and the body runs again
/// after the interval.
///
/// A service with parameters of its own keeps its type and calls `PeriodicService(…).run()` in its `run`.
package struct PeriodicService<State: Sendable>: Service {
    /// What shutdown does to a body under way.
    package enum Shutdown: Sendable {
        case cancelsBody
        case awaitsBody
    }

    private let name: String
    private let interval: @Sendable () -> Duration
    private let retryInterval: Duration?
    private let initialDelay: Duration?
    private let shutdown: Shutdown
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let failureLevel: Logger.Level
    private let state: State
    private let body: @Sendable (inout State) async throws -> Void

    /// - Parameters:
    ///   - name: what the log calls it.
    ///   - interval: from the end of one run to the start of the next; evaluated each time, so it may vary or include jitter.
    ///   - retryInterval: after a failure; the interval by default.
    ///   - initialDelay: before the first run; none by default.
    ///   - state: what one run leaves to the next.
    package init(
        _ name: String,
        every interval: @autoclosure @escaping @Sendable () -> Duration,
        retryInterval: Duration? = nil,
        initialDelay: Duration? = nil,
        shutdown: Shutdown = .cancelsBody,
        clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger,
        failureLevel: Logger.Level = .warning,
        state: State,
        body: @escaping @Sendable (inout State) async throws -> Void
    ) {
        self.name = name
        self.interval = interval
        self.retryInterval = retryInterval
        self.initialDelay = initialDelay
        self.shutdown = shutdown
        self.clock = clock
        self.logger = logger
        self.failureLevel = failureLevel
        self.state = state
        self.body = body
    }

    package func run() async throws {
        switch shutdown {
        case .cancelsBody: await cancelWhenGracefulShutdown { await repeatBody() }
        case .awaitsBody: await repeatBody()
        }
    }

    private func repeatBody() async {
        var state = state
        if let initialDelay { await sleep(for: initialDelay) }
        while !Task.isCancelled, !Task.isShuttingDownGracefully {
            var pause = interval
            do {
                try await body(&state)
            } catch is CancellationError where Task.isCancelled || Task.isShuttingDownGracefully {
                return
            } catch {
                logger.log(
                    level: failureLevel.unlessOutage(error),
                    "a periodic task failed; it runs again after its interval",
                    metadata: ["task": "\(name)", "error": "\(error)"]
                )
                if let retryInterval { pause = { retryInterval } }
            }
            await sleep(for: pause())
        }
    }

    /// Ends early at shutdown, also where the body is awaited.
    private func sleep(for duration: Duration) async {
        await cancelWhenGracefulShutdown { try? await clock.sleep(for: duration, tolerance: nil) }
    }
}

extension PeriodicService where State == Void {
    package init(
        _ name: String,
        every interval: @autoclosure @escaping @Sendable () -> Duration,
        retryInterval: Duration? = nil,
        initialDelay: Duration? = nil,
        shutdown: Shutdown = .cancelsBody,
        clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger,
        failureLevel: Logger.Level = .warning,
        body: @escaping @Sendable () async throws -> Void
    ) {
        self.init(
            name,
            every: interval(),
            retryInterval: retryInterval,
            initialDelay: initialDelay,
            shutdown: shutdown,
            clock: clock,
            logger: logger,
            failureLevel: failureLevel,
            state: ()
        ) { _ in try await body() }
    }
}
