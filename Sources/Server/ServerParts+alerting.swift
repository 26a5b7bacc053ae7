import Alerting
import Delivery
import HTTPClient
import LiveActivities
import Logging
import ServiceLifecycle

extension ServerParts {
    /// An instance that evaluates alerts does not start while the file is broken: its pages would go to the log alone. A running one keeps
    /// its receivers.
    func requireReceivers() throws(ConfigurationError) {
        guard configuration.roles.contains(.alert), let fault = alerts.receivers.fault else { return }
        let key = ConfigurationKey.alertsDirectory
        throw ConfigurationError(
            "\(key.environmentName) (`\(key.name)`): \(fault). Without its receivers, alerts would reach nobody. "
                + "An instance that evaluates no alerts names its roles: --role api,send,live."
        )
    }

    /// A warning and no error: a trial needs no receivers; in production `receivers.yml` is missing.
    func warnOfNoReceivers() {
        guard configuration.roles.contains(.alert), alerts.receivers.set.people.isEmpty else { return }
        logger.warning(
            "no receiver of alerts but the log is configured: nobody is notified",
            metadata: ["file": "\(configuration.alertsDirectory)/receivers.yml"]
        )
    }

    /// What a process with the role `alert` runs.
    func alerting() -> [any Service] {
        let toReceivers: AlertHTTP = { [http] in try await http.send($0) }
        let pool = pools.alerting
        let sends = sending.store(pool)
        var evaluating = EvaluatorConfiguration()
        evaluating.lag = configuration.alertsLag
        evaluating.maxApps = configuration.alertsMaxApps
        let evaluator = RuleEvaluator(
            pool: pool,
            rules: alerts.rules,
            receivers: alerts.receivers,
            configuration: evaluating,
            backlog: sends.backlogNumbers,
            sampling: sends.backlogSamples,
            circuits: sends.circuitSamples,
            feeds: FeedHealthStore(pool: pool).alertSamples,
            logger: logger
        )
        let notifier = Notifier(
            pool: pool,
            receivers: alerts.receivers,
            configuration: NotifierConfiguration(externalURL: configuration.externalURL),
            logger: logger,
            send: toReceivers
        )
        let maintenance = AlertmanagerResender(
            pool: pool,
            receivers: alerts.receivers,
            externalURL: configuration.externalURL,
            logger: logger,
            send: toReceivers
        )
        guard let url = configuration.alertsHeartbeatURL else { return [evaluator, notifier, maintenance] }
        let deadMansSwitch = DeadMansSwitch(
            url: url,
            pool: pool,
            evaluator: evaluator,
            receivers: alerts.receivers,
            logger: logger,
            send: toReceivers
        )
        return [evaluator, notifier, maintenance, deadMansSwitch]
    }
}
