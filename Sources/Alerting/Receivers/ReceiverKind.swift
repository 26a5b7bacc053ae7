import Yams

/// A kind of receiver: the key under which `receivers.yml` configures it, and how its settings are read.
///
/// Each kind is defined in its own folder; `all` is the only list of kinds.
struct ReceiverKind: Sendable {
    let key: String
    let read: @Sendable (_ name: String, _ settings: Node, _ yaml: ReceiverYAML) throws -> any AlertReceiver

    static let all: [ReceiverKind] = [.webhook, .slack, .pagerDuty, .ntfy, .alertmanager, .email, .log]
}
