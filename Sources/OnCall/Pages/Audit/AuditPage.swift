import HTTPServer
import PushContract

/// Who did what, as its template sees it.
struct AuditPage {
    static let limit = 200

    struct Row {
        let when: String
        let whenAttribute: String
        let actor: String
        let action: String
        let subject: String
        let detail: String
    }

    let frame: PageFrame
    let entries: [Row]
    let hasEntries: Bool

    init(_ entries: [AuditEntry], reader: String, now: Timestamp) {
        frame = PageFrame(title: "Audit · Pushwatch", person: reader, now: now)
        self.entries = entries.map { entry in
            Row(
                when: ClockText.moment(entry.at, now: now),
                whenAttribute: entry.at.rfc3339,
                actor: entry.actor,
                action: entry.action.rawValue,
                subject: entry.subject,
                detail: StoredMoments.text(entry.detail, now: now)
            )
        }
        hasEntries = !entries.isEmpty
    }
}
