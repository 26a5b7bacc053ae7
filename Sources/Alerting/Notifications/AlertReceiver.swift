package import HTTPClient
package import Logging
package import PushContract

/// Where notifications go. Building a request is pure; sending, retrying and recording are the notifier's.
package protocol AlertReceiver: Sendable, Hashable {
    var name: String { get }
    /// Texts that must not be stored or logged.
    var secrets: [String] { get }
    /// One message may be about several alerts. Elsewhere each alert has an incident, a thread or an identity of its own.
    var supportsGrouping: Bool { get }
    /// The service behind it repeats notifications itself.
    var repeatsItself: Bool { get }
    /// False for a log, which notifies nobody.
    var reachesPeople: Bool { get }
    /// What to send when an alert ended before its first notification was sent.
    var supersededPolicy: SupersededPolicy { get }
    /// The events it is notified of; others are settled without a message.
    var events: Set<AlertNotification.Event> { get }
    /// What to do about a message.
    func action(for message: AlertNotification, now: Timestamp) throws -> ReceiverAction
    /// What to do about several messages at once; nil when each has to be sent separately.
    func action(for group: NotificationGroup, now: Timestamp) throws -> ReceiverAction?
    /// What the receiver's answer means.
    func verdict(on response: OutboundResponse, now: Timestamp) -> ResponseVerdict
    /// Why a message could not be edited, if that is for good; nil when it was, or may be later.
    func editFault(in response: OutboundResponse) -> EditFault?
    /// The thread that a response refers to, for a receiver that edits messages.
    func thread(in response: OutboundResponse) -> String?
}

/// What is sent about an alert that ended before its first message was sent.
package enum SupersededPolicy: Sendable {
    /// One message: it fired and is resolved.
    case sendResolved
    /// Nothing: a resolution of something unknown means nothing there.
    case sendNothing
}

/// Why a message of a receiver cannot be edited.
package enum EditFault: Sendable {
    case refused, missing
}

package enum ReceiverAction: Sendable {
    case request(OutboundRequest)
    /// The same to each member of a cluster: delivered when one of them took it.
    case requests([OutboundRequest])
    /// An edit of an earlier message, then a reply below it, sent as well when that message cannot be edited any more. When it is gone, the
    /// replacement is sent instead of the reply.
    case edit(OutboundRequest, reply: OutboundRequest, replacement: OutboundRequest)
    case mail(OutboundMail)
    /// A line for the service's log: delivered by writing it.
    case log(Logger.Level, String, Logger.Metadata)
}

extension AlertReceiver {
    package var supportsGrouping: Bool { false }
    package var repeatsItself: Bool { false }
    package var reachesPeople: Bool { true }
    package var supersededPolicy: SupersededPolicy { .sendResolved }

    /// Acknowledgements are sent only where they change something.
    package var events: Set<AlertNotification.Event> { [.fired, .repeated, .reopened, .resolved] }

    package func editFault(in response: OutboundResponse) -> EditFault? { nil }

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
