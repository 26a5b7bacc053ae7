import Providers
import PushContract

/// A push as it is attempted: its content is made, and it knows what only the content says.
struct PreparedPush: Sendable {
    private(set) var push: Push
    /// What is to be sent, or why it cannot be.
    let content: Result<Push.Content, PushError>
    /// Which provider, credential and topic it is sent with.
    private(set) var scope: PushScope

    init(_ push: Push, now: Timestamp) {
        self.push = push
        scope = PushScope(push.identity)
        content = Result { () throws(PushError) in try push.content(now) }
        guard case .success(.message(let message, _)) = content else { return }
        self.push.identity.pushType = message.pushType.rawValue
        guard push.identity.provider == .apns else { return }
        // Senders can make up any number of topics: a push with one is judged for itself alone.
        if message.topic != nil {
            self.push.hasOwnTopic = true
        } else {
            scope.topic = message.apnsTopic(of: push.identity.app)
        }
    }
}
