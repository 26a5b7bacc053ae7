import AlertRules
import Foundation
import PushContract

/// A mail about an alert: headers that keep an alertId in one thread, a text and an HTML part.
///
/// Firing or resolved stands in the first line of the body, never in the subject: Gmail threads by the subject too.
struct EmailMessage {
    let alert: AlertText
    let mailbox: Mailbox
    let now: Timestamp

    init(_ alert: AlertText, mailbox: Mailbox, now: Timestamp) {
        self.alert = alert
        self.mailbox = mailbox
        self.now = now
    }

    /// Complete, with CRLF line ends.
    var text: String { MailParts.text(headers, id: message.id, plain: alert.plain, html: EmailHTML.page(alert)) }

    private var message: AlertNotification { alert.message }
    private var alertId: String { message.alertId.uuidString.lowercased() }

    private var headers: [(String, String)] {
        // The first message of the thread does not exist: every mail answers the same one.
        let root = "<\(alertId)@\(mailbox.from.domain)>"
        return [
            ("From", MailHeader.address(mailbox.from)),
            ("To", mailbox.to.map(MailHeader.address).joined(separator: ",\r\n ")),
            ("Subject", MailHeader.text(alert.title)),
            ("Date", MailHeader.date(now)),
            // The same for every try, so that a repeated mail is recognised.
            ("Message-ID", "<\(alertId).\(message.seq).\(MailHeader.atom(message.receiver))@\(mailbox.from.domain)>"),
            ("In-Reply-To", root),
            ("References", root),
            ("Auto-Submitted", "auto-generated"),
            ("X-Auto-Response-Suppress", "All"),
            ("List-Id", "<pushwatch-alerts.\(mailbox.from.domain)>"),
            ("X-Priority", message.kind == .firing && message.severity.pages ? "1" : "3"),
            ("MIME-Version", "1.0"),
        ]
    }
}
