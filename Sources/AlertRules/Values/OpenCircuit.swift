/// An open circuit in one minute: a credential that a provider refuses, or a provider that is down.
package struct OpenCircuit: Sendable, Hashable, Codable {
    package var app: String
    package var environment: String
    /// Empty: every platform.
    package var platform: String
    /// The provider's code.
    package var cause: String
    /// The minute of the first refusal.
    package var since: Minute
    /// Deliveries that it blocks.
    package var waiting: Int64
    /// What they would fail with; nil: `auth`.
    package var reason: String?

    /// The reasons that pushes are blocked for.
    static let reasons = ["auth", "provider_5xx", "network"]

    package init(
        app: String,
        environment: String,
        platform: String = "",
        cause: String,
        since: Minute,
        waiting: Int64,
        reason: String? = nil
    ) {
        self.app = app
        self.environment = environment
        self.platform = platform
        self.cause = cause
        self.since = since
        self.waiting = waiting
        self.reason = reason
    }

    /// `134 pushes wait for the credential of com.example.scores (sandbox), refused with InvalidProviderToken since 2026-01-05 10:03 UTC`
    package var text: String {
        let scope = ([environment] + (platform.isEmpty ? [] : [platform])).joined(separator: ", ")
        let pushes = waiting == 1 ? "1 push waits" : "\(waiting) pushes wait"
        return switch reason {
        case "provider_5xx": "\(pushes) to \(app) (\(scope)): the provider answers \(cause) to everything since \(since)"
        case "network": "\(pushes) to \(app) (\(scope)): the provider has not answered since \(since)"
        default: "\(pushes) for the credential of \(app) (\(scope)), refused with \(cause)\(hint) since \(since)"
        }
    }
}

extension OpenCircuit {
    /// For a code whose name is misleading.
    private var hint: String {
        cause == "ExpiredProviderToken" ? " although its token is young: a clock is wrong, of the sending machine most likely," : ""
    }
}

/// The open circuits of one group, minute by minute. A minute that was not sampled has none.
package struct CircuitMinutes: Sendable, Hashable {
    private var minutes: [Minute: [OpenCircuit]]

    package init(_ minutes: [Minute: [OpenCircuit]] = [:]) { self.minutes = minutes }

    package subscript(minute: Minute) -> [OpenCircuit] { minutes[minute] ?? [] }

    package var first: Minute? { minutes.keys.min() }

    /// Those that block something and have been refused for `minutes` minutes at the end of `minute`, the one that blocks most first.
    func refused(at minute: Minute, for minutes: Int) -> [OpenCircuit] {
        self[minute].filter { $0.waiting > 0 && $0.since <= minute - (minutes - 1) }
            .sorted { ($1.waiting, $0.app, $0.environment, $0.platform) < ($0.waiting, $1.app, $1.environment, $1.platform) }
    }

    /// Whether a circuit blocks anything, for however short a time.
    func isWaiting(at minute: Minute) -> Bool { self[minute].contains { $0.waiting > 0 } }
}

/// One minute of an open circuit.
package struct CircuitMinute: Sendable, Hashable {
    /// Provider, app and environment.
    package var key: GroupKey
    package var minute: Minute
    package var credential: OpenCircuit

    package init(provider: String, minute: Minute, credential: OpenCircuit) {
        key = GroupKey([.eventType: "send", .provider: provider, .app: credential.app, .environment: credential.environment])
        self.minute = minute
        self.credential = credential
    }
}

extension GroupHistory {
    /// Adds open circuits to the groups they belong to, and groups in which all pushes wait and none was attempted.
    package static func adding(_ rows: [CircuitMinute], to histories: [GroupHistory], of rule: AlertRule) -> [GroupHistory] {
        let counted = rows.filter { rule.condition.of.admits($0.key) && rule.condition.reasons.contains($0.credential.reason ?? "auth") }
        guard !counted.isEmpty else { return histories }
        let byGroup = Dictionary(grouping: counted) { $0.key.restricted(to: rule.by) }.mapValues { rows in
            CircuitMinutes(Dictionary(grouping: rows, by: \.minute).mapValues { $0.map(\.credential) })
        }
        let present = Set(histories.map(\.group))
        let unseen = byGroup.keys.filter { !present.contains($0) }.map { GroupHistory(group: $0, strata: []) }
        return (histories + unseen).map { history in
            var history = history
            history.circuits = byGroup[history.group] ?? history.circuits
            return history
        }.sorted { $0.group < $1.group }
    }
}
