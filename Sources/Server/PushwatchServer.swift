import Access
package import Alerting
import Attempts
import Delivery
import HTTPClient
package import HTTPServer
import Hummingbird
package import Logging
import OnCall
import Postgres
package import PushContract
package import ServiceLifecycle
package import UnixSignals

/// The whole service, built from its configuration: connection pools, a router for each listener, one `ServiceGroup`.
///
/// Instances are stateless; any number may run against one database. `run()` serves until SIGTERM, SIGINT or SIGHUP, then drains: the
/// listeners first, then what they fed, the database last.
package struct PushwatchServer {
    /// What a caller may add to the server, and what it is notified of.
    package struct Hooks: Sendable {
        /// Receivers in addition to those of `alerts/receivers.yml`.
        package var receivers: [ReceiverConfiguration] = []
        /// Further services that live as long as the server, such as the demo's.
        package var extraServices: [any Service] = []
        /// Called once the listener is bound, with its URL.
        package var onListening: @Sendable (_ url: String) async -> Void = { _ in }
        /// Adds routes to the service's own.
        package var routes: @Sendable (HTTPRouter) -> Void = { _ in }
        /// Applies missing migrations before work begins.
        package var migrates = false
        /// The time as the pages see it; what is stored has the real one's. For tests that show hours in seconds.
        package var pageClock: @Sendable () -> Timestamp = Timestamp.now

        package init() {}
    }

    private let configuration: ServerConfiguration
    private let metrics: MetricsRegistry
    private let hooks: Hooks
    private let logger: Logger

    package init(configuration: ServerConfiguration, metrics: MetricsRegistry, hooks: Hooks = Hooks(), logger: Logger) {
        self.configuration = configuration
        self.metrics = metrics
        self.hooks = hooks
        self.logger = logger
    }

    package func run(gracefulShutdownSignals: [UnixSignal] = [.sigterm, .sigint, .sighup]) async throws {
        ProcessLimits.raiseDescriptors()
        var configuration = configuration
        try configuration.checkFiles()
        try await configuration.checkUserKeys()
        let alerts = AlertParts(configuration, receivers: hooks.receivers, logger: logger)
        try configuration.apply(.current(), alertReceivers: alerts.receiversWithConnections, logger: logger)
        logger.notice(
            "starting",
            metadata: [
                "version": "\(configuration.version)",
                "roles": "\(configuration.roles.map(\.rawValue).sorted().joined(separator: ","))",
                "addresses": "\(configuration.listeners.map { $0.url(port: nil) }.joined(separator: ","))",
            ]
        )
        let parts = try ServerParts(configuration, alerts: alerts, metrics: metrics, hooks: hooks, logger: logger)
        var settings = ServiceGroupConfiguration(
            services: try parts.services(hooks: hooks).map(PushwatchServer.settings(of:)),
            gracefulShutdownSignals: gracefulShutdownSignals,
            logger: logger.withoutServices
        )
        // What has not ended by then is cancelled; supervisors usually wait 30 s.
        settings.maximumGracefulShutdownDuration = configuration.httpDrain + .seconds(28)
        try await ServiceGroup(configuration: settings).run()
        logger.notice("ended")
    }

    /// A gate that fails (the schema does not fit) stops the others as SIGTERM does: their errors would hide the reason.
    private static func settings(of service: any Service) -> ServiceGroupConfiguration.ServiceConfiguration {
        .init(
            service: service,
            successTerminationBehavior: .ignore,
            failureTerminationBehavior: service is DatabaseGate ? .gracefullyShutdownGroup : .cancelGroup,
            serviceName: "\(type(of: (service as? DatabaseDependentService)?.service ?? service))"
        )
    }
}

extension Logger {
    /// Of a service group, which writes some lines on the start and end of each service, for those who trace it.
    var withoutServices: Logger {
        var logger = self
        if logger.logLevel == .debug { logger.logLevel = .info }
        return logger
    }
}
