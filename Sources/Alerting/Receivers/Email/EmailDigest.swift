import AlertRules
import Foundation
import HTTPClient
import PushContract

/// A mail about several alerts. It answers no other mail: it belongs to no alert's thread, and names those of all of them.
struct EmailDigest {
    let group: GroupText
    let mailbox: Mailbox
    let now: Timestamp

    init(_ group: GroupText, mailbox: Mailbox, now: Timestamp) {
        self.group = group
        self.mailbox = mailbox
        self.now = now
    }

    var headers: [OutboundMail.Header] {
        let id = group.group.id
        let roots = group.group.messages.map { "<\($0.alertId.uuidString.lowercased())@\(mailbox.from.domain)>" }
        return [
            .init("From", MailHeader.address(mailbox.from)),
            .init("To", mailbox.to.map(MailHeader.address).joined(separator: ",\r\n ")),
            .init("Subject", MailHeader.text(group.title)),
            .init("Date", MailHeader.date(now)),
            .init("Message-ID", "<\(id).\(MailHeader.atom(group.group.receiver))@\(mailbox.from.domain)>"),
            .init("References", roots.reduce(into: [String]()) { $0.contains($1) ? () : $0.append($1) }.joined(separator: "\r\n ")),
            .init("Auto-Submitted", "auto-generated"),
            .init("X-Auto-Response-Suppress", "All"),
            .init("List-Id", "<pushwatch-alerts.\(mailbox.from.domain)>"),
            .init("X-Priority", "3"),
        ]
    }
}
