import Alerting
import Delivery
import HTTPClient
import LiveActivities
import Logging
import ServiceLifecycle

extension ServerParts {
    /// A trial without receivers is fine; in production it is a file that was forgotten.
    func warnOfNoReceivers() {
        guard configuration.roles.contains(.alert), receivers.set.people.isEmpty else { return }
        logger.warning(
            "no receiver of alerts but the log is configured: nobody is notified",
            metadata: ["file": "\(configuration.alertsDirectory)/receivers.yml"]
        )
    }

    /// What a process with the role `alert` runs.
    func alerting() -> [any Service] {
        let toReceivers: AlertHTTP = { [http] in try await http.send($0) }
        let pool = pools.alerting
        let sends = sendsUsing(pool)
        var evaluating = EvaluatorConfiguration()
        evaluating.lag = configuration.alertsLag
        evaluating.maxApps = configuration.alertsMaxApps
        let evaluator = RuleEvaluator(
            pool: pool,
            rules: rules,
            receivers: receivers,
            configuration: evaluating,
            backlog: sends.backlogNumbers,
            sampling: sends.backlogSamples,
            circuits: sends.circuitSamples,
            feeds: FeedHealthStore(pool: pool).alertSamples,
            logger: logger
        )
        let notifier = Notifier(
            pool: pool,
            receivers: receivers,
            configuration: NotifierConfiguration(externalURL: configuration.externalURL),
            logger: logger,
            send: toReceivers
        )
        let maintenance = AlertmanagerResender(
            pool: pool,
            receivers: receivers,
            externalURL: configuration.externalURL,
            logger: logger,
            send: toReceivers
        )
        guard let url = configuration.alertsHeartbeatURL else { return [evaluator, notifier, maintenance] }
        return [
            evaluator, notifier, maintenance, DeadMansSwitch(url: url, pool: pool, evaluator: evaluator, logger: logger, send: toReceivers),
        ]
    }
}
