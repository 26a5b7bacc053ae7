import Audit
import PushContract

/// Who did what, as its template sees it.
struct AuditPage {
    static let limit = 200

    struct Row {
        let when: String
        let whenAttribute: String
        let actor: String
        /// With which key, from where.
        let callerKind: String
        let action: String
        let subject: String
        let detail: String
        let changes: [String]
        let hasChanges: Bool

        init(_ entry: AuditEntry, now: Timestamp) {
            when = ClockText.moment(entry.at, now: now)
            whenAttribute = entry.at.rfc3339
            actor = entry.actor
            callerKind = Self.text(entry.callerKind, keyId: entry.keyId)
            action = entry.action.rawValue
            subject = entry.subject
            detail = StoredMoments.text(entry.detail, now: now)
            changes = AuditChange.between(entry.before, entry.after).map { StoredMoments.text(Self.text($0), now: now) }
            hasChanges = !changes.isEmpty
        }

        private static func text(_ kind: AuditActor.Kind, keyId: String?) -> String {
            switch kind {
            case .key: "with the key \(keyId ?? "")"
            case .session: "signed in with the key \(keyId ?? "")"
            case .proxy: "signed in by the proxy"
            case .user: "an app's user"
            case .command: "on the command line"
            }
        }

        /// `perMinute: 600 → 60`; `none` on the side where there was nothing.
        private static func text(_ change: AuditChange) -> String {
            "\(change.field): \(change.before ?? "none") → \(change.after ?? "none")"
        }
    }

    let frame: PageFrame
    let entries: [Row]
    let hasEntries: Bool

    init(_ entries: [AuditEntry], reader: String, now: Timestamp) {
        frame = PageFrame(title: "Audit · Pushwatch", person: reader, now: now)
        self.entries = entries.map { Row($0, now: now) }
        hasEntries = !entries.isEmpty
    }
}
