import HTTPClient

extension ReceiverConfiguration {
    /// The receiver this configures.
    package var receiver: any AlertReceiver {
        switch kind {
        case .webhook(let url, let secret): WebhookReceiver(name: name, url: url, secret: secret)
        case .slack(let url): SlackReceiver(name: name, url: url)
        case .slackBot(let token, let channel, let url): SlackBotReceiver(name: name, token: token, channel: channel, url: url)
        case .pagerDuty(let routingKey, let url): PagerDutyReceiver(name: name, routingKey: routingKey, url: url)
        case .ntfy(let server, let topic, let token): NtfyReceiver(name: name, topic: topic, server: server, token: token)
        case .alertmanager(let cluster): AlertmanagerReceiver(name: name, cluster: cluster)
        case .email(let mailbox): EmailReceiver(name: name, mailbox: mailbox)
        case .log: LogReceiver(name: name)
        }
    }
}
