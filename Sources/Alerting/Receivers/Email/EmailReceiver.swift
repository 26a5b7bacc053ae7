import Foundation
import HTTPClient
package import PushContract

/// Sends mails over SMTP, one thread for each alert.
package struct EmailReceiver: AlertReceiver {
    package let name: String
    private let mailbox: Mailbox

    package init(name: String, mailbox: Mailbox) {
        self.name = name
        self.mailbox = mailbox
    }

    package var supportsGrouping: Bool { true }

    package var secrets: [String] {
        mailbox.password.map { [$0, Data($0.utf8).base64EncodedString()] } ?? []
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
