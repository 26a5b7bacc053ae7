package import Alerting
import Foundation
import Logging

/// Rules and receivers, which are read again when their files change.
struct AlertParts: Sendable {
    let rules: RuleRegistry
    let receivers: ReceiverRegistry
    let backtests = BacktestCache()

    /// - Parameter receivers: in addition to those of the settings and of `alerts/receivers.yml`.
    init(_ configuration: ServerConfiguration, receivers: [ReceiverConfiguration], logger: Logger) {
        rules = RuleRegistry(directory: configuration.alertsDirectory, logger: logger)
        self.receivers = ReceiverRegistry(
            fixed: configuration.receivers + receivers,
            file: configuration.alertsDirectory + "/receivers.yml",
            environment: ProcessInfo.processInfo.environment,
            logger: logger
        )
    }

    /// How many receivers need connections: all but the log.
    var receiversWithConnections: Int { receivers.set.people.count }
}

extension ServerConfiguration {
    /// Receivers named in the settings; more come from alerts/receivers.yml.
    package var receivers: [ReceiverConfiguration] {
        webhookURL.map { [.webhook("webhook", url: $0, secret: webhookSecret), .log] } ?? [.log]
    }
}
