import Foundation
import HTTPClient
import PushContract

/// Sends mails over SMTP, one thread for each alert.
struct EmailReceiver: AlertReceiver {
    let name: String
    private let mailbox: Mailbox

    init(name: String, mailbox: Mailbox) {
        self.name = name
        self.mailbox = mailbox
    }

    var supportsGrouping: Bool { true }

    var secrets: [String] {
        mailbox.password.map { [$0, Data($0.utf8).base64EncodedString()] } ?? []
    }

    func action(for message: AlertNotification, now: Timestamp) -> ReceiverAction {
        let alert = AlertText(message)
        return post(EmailMessage(alert, mailbox: mailbox, now: now).headers, text: alert.plain, html: EmailHTML.page(alert))
    }

    func action(for group: NotificationGroup, now: Timestamp) -> ReceiverAction? {
        let alerts = GroupText(group)
        return post(EmailDigest(alerts, mailbox: mailbox, now: now).headers, text: alerts.plain(inFull: true), html: EmailHTML.page(alerts))
    }

    private func post(_ headers: [OutboundMail.Header], text: String, html: String) -> ReceiverAction {
        .mail(
            OutboundMail(
                server: mailbox.server,
                encryption: mailbox.encryption,
                user: mailbox.user,
                password: mailbox.password,
                caFile: mailbox.caFile,
                sender: mailbox.from.address,
                recipients: mailbox.to.map(\.address),
                headers: headers,
                text: text,
                html: html,
                timeout: NotificationAttempt.deadline
            )
        )
    }
}
