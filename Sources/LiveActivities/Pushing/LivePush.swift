import Devices
import Providers
import PushContract

/// One push of a Live Activity as it is to be tried.
struct LivePush: Sendable {
    /// What is sent, and where to.
    enum Content: Sendable {
        case message(PushMessage, to: PushToken)
        case broadcast(LiveActivityPush, to: BroadcastChannel)
    }

    var key: ActivityKey
    /// `start`, `end`, or which state: with the key it names the operation.
    var what: String
    /// For the metrics: `start`, `update`, `end`, `broadcast`.
    var event: String
    var tokenHash: TokenHash
    var app: String
    var environment: PushEnvironment
    var attemptNumber: Int
    var requestId: String
    /// What APNs knows the push by: the same for each repetition that must not show twice.
    var messageId: String
    /// What is sent, or why it cannot be.
    var content: Result<Content, PushFault>

    var place: LivePlace { LivePlace(app: app, environment: environment) }

    /// To everybody who listens: what is answered tells of no token.
    var isBroadcast: Bool { if case .success(.broadcast) = content { true } else { false } }

    func attempt(_ outcome: PushOutcome, at startedAt: Timestamp) -> Attempt {
        LiveAttempt.make(
            key,
            what,
            tokenHash: tokenHash,
            app: app,
            environment: environment,
            attemptNumber: attemptNumber,
            at: startedAt,
            requestId: requestId,
            outcome: outcome
        )
    }
}

/// What came of it.
enum LivePushResult: Sendable {
    case tried(PushOutcome)
    /// The credential is refused, or the provider wants fewer requests: nothing left.
    case keptBack(until: Timestamp)
}

extension Result {
    static func making(_ body: () throws(Failure) -> Success) -> Result {
        do throws(Failure) {
            return .success(try body())
        } catch {
            return .failure(error)
        }
    }
}
