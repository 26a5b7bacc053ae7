import Providers
import PushContract

/// A push as it is attempted: its content is made, and it knows what only the content says. By reference: it is large, and handed on.
final class PreparedPush: Sendable {
    let push: Push
    /// What is to be sent, or why it cannot be.
    let content: Result<Push.Content, PushError>
    /// Which provider, credential and topic it is sent with.
    let scope: PushScope

    init(_ given: Push, now: Timestamp) {
        var push = given
        var scope = PushScope(push.identity)
        content = Result { () throws(PushError) in try given.content(now) }
        if case .success(.message(let message, _)) = content {
            push.identity.pushType = message.pushType.rawValue
            if push.identity.provider == .apns {
                // Senders can make up any number of topics: a push with one is judged for itself alone.
                if message.topic != nil {
                    push.hasOwnTopic = true
                } else {
                    scope.topic = message.apnsTopic(of: push.identity.app)
                }
            }
        }
        self.push = push
        self.scope = scope
    }
}
