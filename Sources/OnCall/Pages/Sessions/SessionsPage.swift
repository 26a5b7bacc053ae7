import Access
import PushContract

/// Who is signed in, as its template sees it.
struct SessionsPage {
    struct Row {
        let id: String
        let person: String
        let key: String
        let since: String
        let sinceAttribute: String
        let used: String
        let usedAttribute: String
        let isReaders: Bool
        let mayEnd: Bool
    }

    let frame: PageFrame
    let sessions: [Row]
    let hasSessions: Bool

    /// - Parameter own: the session that reads the page; nil for who came by a proxy or with a key.
    init(_ sessions: [Session], own: String?, reader: PageReader, now: Timestamp) {
        frame = PageFrame(title: "Signed in · Pushwatch", person: reader.name, now: now)
        self.sessions = sessions.map { session in
            Row(
                id: session.id,
                person: session.person,
                key: session.keyId,
                since: ClockText.moment(session.createdAt, now: now),
                sinceAttribute: session.createdAt.rfc3339,
                used: ClockText.moment(session.lastUsedAt, now: now),
                usedAttribute: session.lastUsedAt.rfc3339,
                isReaders: session.id == own,
                mayEnd: reader.mayAcknowledge && session.id != own
            )
        }
        hasSessions = !sessions.isEmpty
    }
}
