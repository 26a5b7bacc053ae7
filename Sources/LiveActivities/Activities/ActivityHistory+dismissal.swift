package import PushContract

/// Why an activity went from the screen, as the app reports it.
package enum DismissalCause: String, Sendable, Hashable, Codable, CaseIterable {
    /// The person swiped it away.
    case user
    /// The app ended it because it had not been updated for half an hour.
    case stale
    /// The system, or the app for a reason of its own (an end push, a replacement).
    case system
}

/// What becomes of a dismissal.
package enum DismissalVerdict: Sendable, Hashable {
    /// The person does not want this match: unfollow, on all devices.
    case unfollow(Int)
    /// The activity is gone, and comes back with the next real change.
    case gone(Int)
    case ignored(Ignored)

    package enum Ignored: String, Sendable, Hashable, Codable {
        case notByUser, afterOwnEnd, afterRestart, afterSystemLimit, oldInstance, unknownActivity
    }
}

extension ActivityHistory {
    /// So long after a push of ours ended or restarted an activity, its going is our own doing.
    static let ownWindow = Duration.seconds(60)
    /// After that the system itself ends an activity.
    static let systemLimit = Duration.seconds(8 * 3600)

    /// - Parameter followedAt: Since when the person follows the subject; nil if they do not.
    package func verdict(
        onDismissal cause: DismissalCause,
        instance named: Int?,
        followedAt: Timestamp?,
        now: Timestamp
    ) -> DismissalVerdict {
        guard let latest else { return .ignored(.unknownActivity) }
        guard let current = named.map({ instance($0) }) ?? active ?? pending ?? latest else { return .ignored(.unknownActivity) }
        // A swipe invalidates the token, and a suspended app reports it when it runs again: an update may have been refused by then.
        if named != nil, cause == .user, active == nil, current.status == .ended, current.endReason == .tokenInvalid {
            if let ended = current.endedAt {
                // Who followed after that wants it.
                if let followedAt, followedAt > ended { return .ignored(.oldInstance) }
                // The system's end invalidates the token, too.
                if let since = current.activatedAt ?? current.startSentAt, ended - since > ActivityHistory.systemLimit {
                    return .ignored(.afterSystemLimit)
                }
            }
            return .unfollow(current.number)
        }
        if current.status == .ended {
            let isRecent = current.endedAt.map { now - $0 <= ActivityHistory.ownWindow } ?? false
            return .ignored(isRecent && current.number == latest.number ? .afterOwnEnd : .oldInstance)
        }
        if let active, current.number < latest.number, current.number != active.number { return .ignored(.oldInstance) }
        if cause == .system { return .ignored(.notByUser) }
        if let since = current.activatedAt ?? current.startSentAt, now - since > ActivityHistory.systemLimit {
            return .ignored(.afterSystemLimit)
        }
        if cause == .stale { return .gone(current.number) }
        // Which activity it was is not known while one is replaced by another, unless the app names it.
        if named == nil, let previous = instances.last(where: { $0.status == .ended }), let ended = previous.endedAt,
            now - ended <= ActivityHistory.ownWindow
        {
            return .ignored(.afterOwnEnd)
        }
        if named == nil, current.number > 1, let started = current.startSentAt, now - started <= ActivityHistory.ownWindow {
            return .ignored(.afterRestart)
        }
        return .unfollow(current.number)
    }
}
