import Providers
import PushContract

/// A push as it is attempted: its content is made, and it knows what only the content says. By reference: it is large, and handed on.
final class PreparedPush: Sendable {
    /// What the provider is handed, or why it cannot be.
    enum Request: Sendable {
        case message(MessageRequest)
        case broadcast(BroadcastRequest)
        case refused(PushResult)
    }

    let push: Push
    /// Of a delivery of the queue.
    let lease: DeliveryLease?
    let request: Request
    /// Which provider, credential and topic it is sent with.
    let scope: PushScope

    init(_ given: Push, lease: DeliveryLease? = nil, now: Timestamp) {
        var push = given
        var scope = PushScope(push.identity)
        do throws(PushError) {
            switch try given.content(now) {
            case .message(let message, let token):
                push.identity.pushType = message.pushType.rawValue
                if push.identity.provider == .apns {
                    // Senders can name any number of topics, so a topic that a push names is not part of its scope.
                    if message.topic != nil {
                        push.hasOwnTopic = true
                    } else {
                        scope.topic = message.apnsTopic(of: push.identity.app)
                    }
                }
                request = .message(MessageRequest(message, to: token, of: push))
            case .broadcast(let message, let channel): request = .broadcast(BroadcastRequest(message, to: channel, of: push))
            }
        } catch {
            request = .refused(
                .attempted(.failed(Classification(.unknown, retry: .never), code: error.code, detail: error.message))
            )
        }
        self.push = push
        self.lease = lease
        self.scope = scope
    }
}

/// A push to a token, as the provider is handed it.
final class MessageRequest: Sendable {
    let message: PushMessage
    let target: PushTarget
    let attemptId: String

    init(_ message: PushMessage, to token: PushToken, of push: Push) {
        let identity = push.identity
        self.message = message
        target = PushTarget(provider: identity.provider, token: token.rawValue, environment: identity.environment, app: identity.app)
        attemptId = push.messageId
    }
}

/// A push to a broadcast channel, as the provider is handed it.
final class BroadcastRequest: Sendable {
    let push: LiveActivityPush
    let channel: BroadcastChannel
    let scope: BroadcastScope
    let attemptId: String

    init(_ push: LiveActivityPush, to channel: BroadcastChannel, of sent: Push) {
        self.push = push
        self.channel = channel
        scope = BroadcastScope(app: sent.identity.app, environment: sent.identity.environment)
        attemptId = "\(sent.messageId):\(sent.identity.attemptNumber)"
    }
}
