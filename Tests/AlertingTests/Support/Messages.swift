import Alerting
import Foundation
import HTTPClient
import PushContract

/// Alerts as receivers get them.
enum Messages {
    static let now = Timestamp(rfc3339: "2026-01-05T12:15:30Z")!
    static let all: [AlertNotification] = [firing, resolved]

    static var firing: AlertNotification { sample(.firing) }
    static var resolved: AlertNotification { sample(.resolved) }

    /// Everything as long as somebody could make it, with every character that means something somewhere.
    static var extreme: AlertNotification {
        var message = sample(.firing)
        let text = String(repeating: "<&>\"ü\n😀 ", count: 4000)
        message.annotations = ["summary": text, "action": text, "meaning": text, "runbook": "runbooks/provider-5xx.md", "note": text]
        message.group = ["provider": "fcm", "app": String(repeating: "com.example.", count: 40)]
        message.labels["note"] = text
        message.reproduceSQL = String(repeating: "SELECT 'x'; ", count: 60_000)
        message.contributors = (0..<5).map { index in
            var contributor = message.contributors[0]
            contributor.value = "\(index)" + text
            return contributor
        }
        return message
    }

    private static func sample(_ kind: AlertNotification.Kind) -> AlertNotification {
        var message = WebhookReceiverTests.message(kind)
        message.annotations["meaning"] = "Pushes arrive late: the provider answers with errors & we retry."
        message.annotations["action"] = "Throttle non-critical sends and watch the retry drain."
        return message
    }

    static func request(_ receiver: any AlertReceiver, _ message: AlertNotification) throws -> OutboundRequest {
        switch try receiver.action(for: message, now: now) {
        case .request(let request): return request
        case .requests(let requests): return requests[0]
        default: throw CancellationError()
        }
    }
}
