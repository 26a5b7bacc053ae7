import Delivery
import Providers
import PushContract

/// One push of a Live Activity as it is to be tried.
struct LivePush: Sendable {
    /// What is sent, and where to.
    enum Content: Sendable {
        case message(PushMessage, to: PushToken)
        case broadcast(LiveActivityPush, to: BroadcastChannel)
    }

    /// What is being tried.
    enum Kind: String, Sendable {
        case start, update, end, broadcast
    }

    var kind: Kind
    var intent: PushIntent
    /// It belongs to whoever holds the subject, and to nobody else.
    var needsLease = false
    /// When the state was built that an update tells.
    var builtAt: Timestamp?
    /// What APNs knows the push by: the same for each repetition that must not show twice.
    var messageId: String
    /// What is sent, or why it cannot be.
    var content: Result<Content, PushError>

    var appEnvironment: AppEnvironment { AppEnvironment(app: intent.app, environment: intent.environment) }

    /// A start is kept by its claim, in `activityStarts`; everything else is kept before it leaves.
    var isClaimed: Bool { kind == .start }

    /// To everybody who listens: what is answered tells of no token.
    var isBroadcast: Bool { if case .success(.broadcast) = content { true } else { false } }
}

/// What came of it.
enum LivePushResult: Sendable {
    case attempted(PushOutcome)
    /// The credential is refused, or the provider wants fewer requests: nothing left.
    case blocked(until: Timestamp)
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
