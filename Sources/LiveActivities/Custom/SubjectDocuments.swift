import HTTPServer
import PushContract
import ServiceKit

/// The answer to a state that was sent.
struct SubjectReceipt: Encodable, Sendable {
    var result: String
    var type: String
    var id: String
    /// Of a state with an alert: earlier alerts that some device was not sent yet, and that may be merged with this one.
    var alertsWaiting: Int?
}

/// The subjects a user follows.
struct SubjectList: Encodable, Sendable {
    var follows: [Entry]
    /// The state of each on each device of the user.
    var starts: [StartStatus]

    struct Entry: Encodable, Sendable {
        var type: String
        var id: String

        init(_ name: String) {
            let subject = NamedSubject(subject: name)
            (type, id) = (subject.type, subject.id)
        }
    }
}

/// Who follows a subject.
struct FollowerList: Encodable, Sendable {
    var followers: [String]
    /// Their devices, and what each gets.
    var devices: [Device]
    var next: String?

    struct Device: Encodable, Sendable {
        var userId: String
        var deviceId: String
        var receives: DeviceReceives
        /// Why it gets none now.
        var reason: String?
    }
}

/// The answer to a follow: with the state to show at once, if the subject is known.
struct SubjectFollowDocument: Encodable, Sendable {
    var type: String
    var id: String
    var following = true
    var phase: String?
    var contentState: JSONValue?
    /// On each device of the user.
    var starts: [StartStatus]

    init(_ subject: NamedSubject, _ state: FollowStore.FollowState?, starts: [StartStatus]) {
        self.starts = starts
        type = subject.type
        id = subject.id
        phase = state?.phase
        contentState = state.flatMap { try? JSONParser.parse(Array($0.displayState.utf8)) }
    }
}
