package import AlertRules

/// Where alerts can go, as configured.
package struct ReceiverConfiguration: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// Alertmanager's webhook body, version 4. With a secret, signed after Standard Webhooks.
        case webhook(url: String, secret: String?)
        /// A line in the service's log.
        case log
    }

    package var name: String
    package var kind: Kind

    package init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    package static func webhook(_ name: String, url: String, secret: String? = nil) -> ReceiverConfiguration {
        ReceiverConfiguration(name: name, kind: .webhook(url: url, secret: secret))
    }

    package static let log = ReceiverConfiguration(name: "log", kind: .log)

    /// Texts that must not be stored or logged.
    var secrets: [String] {
        switch kind {
        case .webhook(let url, let secret):
            [secret, url.split(separator: "?", maxSplits: 1).dropFirst().first.map(String.init)].compactMap { $0 }
        case .log: []
        }
    }
}

/// Which severities go to which receivers.
package struct AlertRoute: Sendable, Hashable {
    /// Empty: every severity.
    package var severities: Set<Severity>
    package var receivers: [String]

    package init(severities: Set<Severity> = [], receivers: [String]) {
        self.severities = severities
        self.receivers = receivers
    }
}

/// All receivers and routes. Without routes every alert goes to every receiver.
package struct ReceiverSet: Sendable, Hashable {
    package var receivers: [ReceiverConfiguration]
    package var routes: [AlertRoute]

    package init(receivers: [ReceiverConfiguration], routes: [AlertRoute] = []) {
        self.receivers = receivers
        self.routes = routes
    }

    /// Every route that fits adds its receivers; an alert no route fits goes to all of them rather than to nobody.
    package func names(for severity: Severity) -> [String] {
        let all = receivers.map(\.name)
        let fitting = routes.filter { $0.severities.isEmpty || $0.severities.contains(severity) }.flatMap(\.receivers)
        guard !fitting.isEmpty else { return all }
        return all.filter(fitting.contains)
    }
}
