package import PushContract

/// What becomes of an update token that an app posts.
package enum TokenVerdict: Sendable, Hashable {
    /// Known already, or the one before it, which comes late: nothing happens.
    case unchanged(Int)
    /// iOS gave the running activity another token.
    case rotate(Int)
    /// The activity that was started is there. With `replacing`, the instance it takes over from ends now.
    case adopt(Int, replacing: Int?)
    /// The app started an activity by itself.
    case create(Int)
    /// The token is of an activity that is over (409): the app ends it.
    case activityEnded
    /// Nobody asked for this activity.
    case notFollowing

    var storesToken: Bool {
        switch self {
        case .rotate, .adopt, .create: true
        case .unchanged, .activityEnded, .notFollowing: false
        }
    }
}

extension ActivityHistory {
    /// - Parameters:
    ///   - named: the instance the app says the token is of; an app that does not know it leaves it out.
    ///   - mayStart: whether the user follows the subject, it is live, and the follow is newer than the last end (unless that may recover).
    package func verdict(on hash: TokenHash, instance named: Int?, mayStart: Bool, now: Timestamp) -> TokenVerdict {
        if let named, let known = instance(named) { return verdict(on: hash, of: known, now: now) }
        if let active, active.isUnchanged(by: hash, now: now) { return .unchanged(active.number) }
        // A stream that yields once more after its activity's end must not take the new one's place.
        if instances.contains(where: { $0.status == .ended && $0.hasHad(hash) }) { return .activityEnded }
        // Nor must the token before of one that is active, which is that one's again.
        if let active, active.hasHad(hash) { return .rotate(active.number) }
        if let named, let latest, named != latest.number + 1 { return .activityEnded }
        if let pending, active == nil || pending.startSentAt != nil { return .adopt(pending.number, replacing: active?.number) }
        if let active { return .rotate(active.number) }
        guard mayStart else { return latest == nil ? .notFollowing : .activityEnded }
        return .create((latest?.number ?? 0) + 1)
    }

    private func verdict(on hash: TokenHash, of instance: ActivityInstance, now: Timestamp) -> TokenVerdict {
        switch instance.status {
        case .ended: .activityEnded
        case .active: instance.isUnchanged(by: hash, now: now) ? .unchanged(instance.number) : .rotate(instance.number)
        case .pending: .adopt(instance.number, replacing: active?.number)
        }
    }
}
