import Delivery
package import Logging
package import PushContract
package import ServiceKit
import ServiceLifecycle

/// Runs the engine: looks often, works side by side, and at shutdown lets what is under way end and gives its matches away.
package struct LiveService: Service {
    private let engine: LiveEngine
    private let wake: WakeSignal
    private let logger: Logger

    /// - Parameter wake: signalled by follows, tokens and states that come in through this process.
    package init(engine: LiveEngine, wake: WakeSignal, logger: Logger) {
        self.engine = engine
        self.wake = wake
        self.logger = logger
    }

    /// When each credential was last accepted.
    @Sendable
    package func lastAccepted() -> [String: Timestamp] { engine.pipeline.gate.lastAccepted }

    /// A turn may take longer than a lease lasts.
    private func keepLeases() async {
        while (try? await Task.sleep(for: engine.configuration.lease / 3)) != nil {
            do {
                try await engine.renewLeases()
            } catch {
                logger.log(
                    level: .warning.unlessOutage(error),
                    "leases of Live Activities cannot be renewed; trying again",
                    metadata: ["error": "\(error)"]
                )
            }
        }
    }

    package func run() async throws {
        await withGracefulShutdownHandler {
            await engine.working {
                await withDiscardingTaskGroup { group in
                    group.addTask { await keepLeases() }
                    while !Task.isShuttingDownGracefully && !Task.isCancelled {
                        var pause = engine.configuration.poll
                        do {
                            for job in try await engine.turn() { group.addTask { await engine.perform(job) } }
                            if engine.hasPortions { pause = .zero }
                        } catch is CancellationError {
                            break
                        } catch {
                            logger.log(
                                level: .warning.unlessOutage(error),
                                "Live Activities cannot be updated; trying again",
                                metadata: ["error": "\(error)"]
                            )
                            pause = .seconds(1)
                        }
                        await wake.wait(upTo: pause)
                    }
                    engine.drain()
                    let end = ContinuousClock.now + engine.configuration.drainLimit
                    while !engine.isIdle, ContinuousClock.now < end, !Task.isCancelled { await wake.wait(upTo: .milliseconds(50)) }
                    // What the provider has not answered by now is given up, and written as unknown.
                    group.cancelAll()
                }
            }
            await engine.release()
        } onGracefulShutdown: { [wake] in
            wake.signal()
        }
    }
}
