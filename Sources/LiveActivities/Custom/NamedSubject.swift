/// A subject as its routes name it.
struct NamedSubject: Sendable, Hashable {
    var type: String
    var id: String

    /// As it is stored.
    var name: String { type == MatchSubject.attributesType ? id : SubjectName.of(attributesType: type, activityId: id) }
}

extension NamedSubject {
    /// From the name it is stored under.
    init(subject: String) {
        let parts = subject.split(separator: "/", maxSplits: 1).map(String.init)
        self.init(type: parts.count == 2 ? parts[0] : MatchSubject.attributesType, id: parts.last ?? subject)
    }
}
