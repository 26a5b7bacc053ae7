package import HTTPClient
package import Logging
package import PushContract

/// A place alerts go to. Building a request is pure; sending, retrying and recording are the notifier's.
package protocol AlertReceiver: Sendable {
    var name: String { get }
    /// What to tell when an alert ended before it could be told at all.
    var supersededPolicy: SupersededPolicy { get }
    /// What it is told; the rest is settled without a message.
    var events: Set<AlertNotification.Event> { get }
    /// What to do about a message.
    func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction
    /// What to do about several messages at once; nil when each has to be told by itself.
    func action(for group: NotificationGroup, now: Timestamp) throws -> ReceiverAction?
    /// What the receiver's answer means.
    func verdict(on response: OutboundResponse, now: Timestamp) -> ResponseVerdict
    /// Where the message stands that an answer speaks of, for a receiver that edits messages.
    func thread(in response: OutboundResponse) -> String?
}

/// What becomes of an alert that ended while its first message was still waiting.
package enum SupersededPolicy: Sendable {
    /// One message: it fired and is resolved.
    case sendResolved
    /// Nothing: a resolution of something unknown means nothing there.
    case sendNothing
}

package enum ReceiverAction: Sendable {
    case request(OutboundRequest)
    /// The same to each member of a cluster: delivered when one of them took it.
    case requests([OutboundRequest])
    /// One after the other; delivered when the last one is taken.
    case sequence([OutboundRequest])
    case mail(OutboundMail)
    /// A line for the service's log: delivered by writing it.
    case log(Logger.Level, String, Logger.Metadata)
}

extension AlertReceiver {
    package var supersededPolicy: SupersededPolicy { .sendResolved }

    /// That somebody acknowledged an alert is of interest where it changes something.
    package var events: Set<AlertNotification.Event> { [.fired, .repeated, .resolved] }

    package func thread(in response: OutboundResponse) -> String? { nil }

    package func action(for group: NotificationGroup, now: Timestamp) throws -> ReceiverAction? { nil }

    package func verdict(on response: OutboundResponse, now: Timestamp) -> ResponseVerdict {
        ResponseVerdict(status: response.status, retryAfter: response.header("retry-after"), now: now)
    }

    /// What a mail server's last reply means: 2xx taken, 5xx refused for good, anything else worth another try (RFC 5321 §4.2.1).
    package func verdict(on reply: MailReply) -> ResponseVerdict {
        switch reply.code {
        case 200..<300: .delivered
        case 500..<600: .deadLettered
        default: .retry(after: nil)
        }
    }
}
