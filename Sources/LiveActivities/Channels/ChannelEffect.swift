package import Delivery
package import PushContract

/// What a request about a channel, or to one, came to: written in the transaction of its attempt, if it has one.
package enum ChannelEffect: Sendable, Hashable {
    case made(ChannelKey, id: String)
    /// - Parameter pausedUntil: until when no channel is made there.
    case notMade(ChannelKey, refusal: String, retryAt: Timestamp, pausedUntil: Timestamp?)
    /// A state was sent.
    /// - Parameter budgetFullAt: the bucket for boundaries after one was taken from it; nil: none was.
    case sent(ChannelKey, id: String, timestamp: Int64, stateHash: String, budgetFullAt: Timestamp?)
    /// The provider does not know the channel: what listened to it needs another way.
    case gone(ChannelKey, id: String)
    /// The end was sent so many times, or could not be.
    case ended(ChannelKey, id: String, sent: Int, nextAt: Timestamp?)
    case deleted(AppEnvironment, id: String)
    case notDeleted(AppEnvironment, id: String, retryAt: Timestamp)
    /// - Parameter askedAt: channels made after this may be missing from it.
    case listed(AppEnvironment, ids: [String], askedAt: Timestamp)
    case notListed(AppEnvironment, refusal: String)
    /// Kept back: due again then.
    case postponed(ChannelClaim, until: Timestamp)
}
