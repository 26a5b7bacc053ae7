import CoreMetrics
import HTTPServer
package import Logging
import PushContract
import ServiceKit
import ServiceLifecycle

/// Reports what this process is until it ends, and publishes how the running instances differ.
package struct InstanceReporter: Service {
    private static let interval = Duration.seconds(10)

    private let store: InstanceStore
    private let clock: any Clock<Duration>
    private let logger: Logger
    private let report: @Sendable () -> Instance

    package init(
        store: InstanceStore,
        clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger,
        report: @escaping @Sendable () -> Instance
    ) {
        self.store = store
        self.clock = clock
        self.logger = logger
        self.report = report
    }

    package func run() async throws {
        try await PeriodicService("instance report", every: Self.interval, clock: clock, logger: logger) {
            try await store.report(report())
            gauge(try await store.running())
        }.run()
        // What is not withdrawn counts as running for 30 s more. A database that does not answer keeps no shutdown.
        do {
            try await WorkDeadline.$current.withValue(WorkDeadline(.seconds(5))) { try await store.withdraw(report().instance) }
        } catch {
            logger.debug("the instance's end could not be reported", metadata: ["error": "\(error)"])
        }
    }

    private func gauge(_ running: [Instance]) {
        let own = report().instance.lowercased()
        Gauge(label: "pushwatch_instances").record(running.count)
        let differences = Set(InstanceDifference.all(of: running).map(\.label))
        for subject in InstanceDifference.labels {
            Gauge(label: "pushwatch_instances_differ", dimensions: [("subject", subject)]).record(differences.contains(subject) ? 1 : 0)
        }
        guard let instance = running.first(where: { $0.instance.lowercased() == own }) else { return }
        Gauge(
            label: "pushwatch_instance_info",
            dimensions: [("version", instance.version), ("roles", instance.roles.joined(separator: ","))]
        )
        .record(1)
        Gauge(label: "pushwatch_instance_clock_ahead_seconds").record(instance.clockAheadSeconds)
        for credential in instance.credentials {
            let labels = [("provider", credential.provider.rawValue), ("credential", credential.id)]
            AgeGauge(label: "pushwatch_credential_accepted_seconds", dimensions: labels).record(since: credential.acceptedAt)
        }
    }
}
