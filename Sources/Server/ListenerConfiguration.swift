/// One listener: where it listens, and who comes in there.
struct ListenerConfiguration: Sendable, Hashable {
    enum Audience: Sendable {
        /// Every route: the only listener, or the operators'.
        case everyone
        /// Senders and apps: no pages, no alerts, no metrics.
        case callers
    }

    var audience: Audience
    var host: String
    var port: Int
    var usesTLS: Bool

    /// `port`: the one the system chose, where none was asked for.
    func url(port chosen: Int?) -> String { "\(usesTLS ? "https" : "http")://\(host):\(chosen ?? port)" }
}

extension ServerConfiguration {
    /// One listener for everything, or two: that of the callers first, that of the operators last.
    var listeners: [ListenerConfiguration] {
        let main = ListenerConfiguration(
            audience: operatorsPort == nil ? .everyone : .callers,
            host: httpHost,
            port: httpPort,
            usesTLS: tls != nil
        )
        guard let port = operatorsPort else { return [main] }
        return [main, ListenerConfiguration(audience: .everyone, host: operatorsHost, port: port, usesTLS: tls != nil)]
    }
}
