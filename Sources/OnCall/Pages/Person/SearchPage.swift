import PushContract

/// The result of a search that did not find exactly one person.
struct SearchPage {
    struct Person {
        let uid: String
        let path: String
    }

    let frame: PageFrame
    let heading: String
    let advice: String
    let people: [Person]
    let hasPeople: Bool
    /// What was looked up by its hash only, for a form that takes it as a name.
    let token: String?

    init(sendId: String, uids: [String], reader: String, now: Timestamp) {
        frame = PageFrame(title: "Send \(sendId) · Pushwatch", isAnswer: true, person: reader, now: now)
        heading = "Send \(sendId)"
        let all = uids.count == PersonStore.limit ? "the first \(uids.count)" : "\(uids.count)"
        advice = "It went to more than one person; here are \(all)."
        people = uids.map { Person(uid: $0, path: PersonPath.path(uid: $0)) }
        hasPeople = true
        token = nil
    }

    /// - Parameter token: what was typed, where it has the shape of a token.
    init(noMatch token: String?, reader: String, now: Timestamp) {
        frame = PageFrame(title: "Nobody found · Pushwatch", isAnswer: true, person: reader, now: now)
        heading = "Nobody found"
        advice =
            "Search for a uid, a deviceId, an attemptId, a sendId or a tokenHash (sha256: and 64 hex digits). Attempts are found "
            + "by their uid for \(PersonStore.days) days, by their attemptId for 8."
        people = []
        hasPeople = false
        self.token = token
    }
}
