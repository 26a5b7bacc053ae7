import HTTPClient
import Foundation
package import PushContract

/// Sends mails over SMTP, one thread for each alert.
package struct EmailReceiver: AlertReceiver {
    package let name: String
    private let mailbox: Mailbox

    package init(name: String, mailbox: Mailbox) {
        self.name = name
        self.mailbox = mailbox
    }

    package func action(for message: AlertNotification, now: Timestamp) -> ReceiverAction {
        post(EmailMessage(AlertText(message), mailbox: mailbox, now: now).text)
    }

    package func action(for group: NotificationGroup, now: Timestamp) -> ReceiverAction? {
        post(EmailDigest(GroupText(group), mailbox: mailbox, now: now).text)
    }

    private func post(_ text: String) -> ReceiverAction {
        .mail(
            OutboundMail(
                server: mailbox.server,
                encryption: mailbox.encryption,
                user: mailbox.user,
                password: mailbox.password,
                caFile: mailbox.caFile,
                sender: mailbox.from.address,
                recipients: mailbox.to.map(\.address),
                data: Array(text.utf8)
            )
        )
    }
}
