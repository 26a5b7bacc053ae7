package import Devices
package import PushContract

/// Whether a claimed delivery is to be sent at all.
package enum Preflight: Sendable {
    case send(PushToken)
    /// It ends without a try.
    case end(Completion)

    package static func decide(_ delivery: ClaimedDelivery, now: Timestamp) -> Preflight {
        func end(_ next: Completion.Next) -> Preflight { .end(Completion(delivery, attempt: nil, next: next)) }
        if delivery.isCancelled { return end(.cancelled) }
        if delivery.expiresAt <= now { return end(.dead(.expired, reason: nil, providerErrorCode: nil)) }
        guard let token = delivery.token else { return end(.dead(.unreachable, reason: nil, providerErrorCode: "DeviceNotRegistered")) }
        switch delivery.tokenState {
        case .off: return end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenOff"))
        case .suspect where now < (delivery.tokenStateSince ?? now) + DeviceTokens.suspicion:
            return end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenSuspect"))
        case .suspect, .active, nil: return .send(token)
        }
    }
}
