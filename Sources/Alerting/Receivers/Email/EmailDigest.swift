import AlertRules
import Foundation
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

    /// Complete, with CRLF line ends.
    var text: String {
        let id = group.group.id
        let roots = group.group.messages.map { "<\($0.alertId.uuidString.lowercased())@\(mailbox.from.domain)>" }
        let headers = [
            ("From", MailHeader.address(mailbox.from)),
            ("To", mailbox.to.map(MailHeader.address).joined(separator: ",\r\n ")),
            ("Subject", MailHeader.text(group.title)),
            ("Date", MailHeader.date(now)),
            ("Message-ID", "<\(id).\(MailHeader.atom(group.group.receiver))@\(mailbox.from.domain)>"),
            ("References", roots.reduce(into: [String]()) { $0.contains($1) ? () : $0.append($1) }.joined(separator: "\r\n ")),
            ("Auto-Submitted", "auto-generated"),
            ("X-Auto-Response-Suppress", "All"),
            ("List-Id", "<pushwatch-alerts.\(mailbox.from.domain)>"),
            ("X-Priority", "3"),
            ("MIME-Version", "1.0"),
        ]
        return MailParts.text(headers, id: id, plain: group.plain(inFull: true), html: EmailHTML.page(group))
    }
}
