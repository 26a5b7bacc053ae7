import AlertRules
import Foundation
import Logging
import PushContract

/// Writes alerts to the service's log: the receiver that always works.
struct LogReceiver: AlertReceiver {
    let name: String

    init(name: String = "log") { self.name = name }

    var secrets: [String] { [] }
    var reachesPeople: Bool { false }

    func action(for message: AlertNotification, now: Timestamp) -> ReceiverAction {
        let summary = AlertText(message).summary
        let metadata: Logger.Metadata = [
            "alert": "\(message.rule)", "alertId": "\(message.alertId.uuidString.lowercased())",
            "severity": "\(message.severity.rawValue)",
            "since": "\(message.startsAt)", "url": "\(message.pageURL)",
        ]
        switch message.kind {
        case .firing:
            return .log(
                message.severity.pages ? .error : .warning,
                message.event == .reopened ? "FIRING AGAIN \(summary)" : "FIRING \(summary)",
                metadata
            )
        case .resolved: return .log(.notice, "RESOLVED \(summary)", metadata)
        }
    }
}

extension ReceiverKind {
    static let log = ReceiverKind(key: "log") { name, node, yaml in
        _ = try yaml.mapping(node, keys: [])
        return LogReceiver(name: name)
    }
}

extension ReceiverConfiguration {
    package static let log = ReceiverConfiguration(LogReceiver())
}
