import AlertRules
import Foundation
import HTTPClient
import PushContract

/// A mail about an alert: headers that keep an alertId in one thread, a text and an HTML part.
///
/// Firing or resolved is in the first line of the body, never in the subject: Gmail threads by the subject too.
struct EmailMessage {
    let alert: AlertText
    let mailbox: Mailbox
    let now: Timestamp

    init(_ alert: AlertText, mailbox: Mailbox, now: Timestamp) {
        self.alert = alert
        self.mailbox = mailbox
        self.now = now
    }

    private var message: AlertNotification { alert.message }
    private var alertId: String { message.alertId.uuidString.lowercased() }

    var headers: [OutboundMail.Header] {
        // The first message of the thread does not exist: every mail answers the same one.
        let root = "<\(alertId)@\(mailbox.from.domain)>"
        return [
            .init("From", MailHeader.address(mailbox.from)),
            .init("To", mailbox.to.map(MailHeader.address).joined(separator: ",\r\n ")),
            .init("Subject", MailHeader.text(alert.title)),
            .init("Date", MailHeader.date(now)),
            // The same for every try, so that a repeated mail is recognised.
            .init("Message-ID", "<\(alertId).\(message.seq).\(MailHeader.atom(message.receiver))@\(mailbox.from.domain)>"),
            .init("In-Reply-To", root),
            .init("References", root),
            .init("Auto-Submitted", "auto-generated"),
            .init("X-Auto-Response-Suppress", "All"),
            .init("List-Id", "<pushwatch-alerts.\(mailbox.from.domain)>"),
            .init("X-Priority", message.kind == .firing && message.severity.pages ? "1" : "3"),
        ]
    }
}
