package import PushContract

/// Whether a claimed delivery is to be sent at all.
package enum Preflight: Sendable {
    case send(PushToken)
    /// It ends without a try.
    case end(DeliveryNext)

    /// A delivery whose token this process has no key for is claimed again after this: another may have it, or this one after a restart.
    static let missingKeyInterval = Duration.seconds(30)

    package static func decide(_ delivery: ClaimedDelivery, now: Timestamp) -> Preflight {
        if delivery.isCancelled { return .end(.cancelled) }
        // It ended when the newer one came; that it expires afterwards changes nothing.
        if delivery.newestVerdict == .superseded { return .end(.superseded) }
        if delivery.expiresAt <= now { return .end(.dead(.expired, reason: nil, providerErrorCode: nil)) }
        switch delivery.newestVerdict {
        case .superseded, .supersededAtToken: return .end(.superseded)
        case .waits(let until): return .end(.retry(at: until, after: nil))
        case .newest where delivery.newestKeys != nil && now > delivery.claimedAt + NewestQueries.startLimit:
            return .end(.retry(at: now, after: nil))
        case .newest: break
        }
        switch delivery.queuedContent {
        case .push(_, let token, _): return .send(token)
        case .notBefore(let moment): return .end(.retry(at: moment, after: .unknown))
        case .notWanted: return .end(.cancelled)
        case .unreadable, nil: break
        }
        if let fault = delivery.unreadable {
            guard fault.isKeyMissing else { return .end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenUnreadable")) }
            return .end(.retry(at: min(now + missingKeyInterval, delivery.expiresAt), after: .unknown))
        }
        if delivery.tokenState == .inactive { return .end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenInactive")) }
        guard let token = delivery.token else { return .end(.dead(.unreachable, reason: nil, providerErrorCode: "DeviceNotRegistered")) }
        switch delivery.tokenState {
        case .suspect where now < (delivery.tokenStateSince ?? now) + DeviceTokens.suspectPeriod:
            return .end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenSuspect"))
        case .suspect, .active, .inactive, nil: return .send(token)
        }
    }
}
