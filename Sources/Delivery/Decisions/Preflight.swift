package import PushContract

/// Whether a claimed delivery is to be sent at all.
package enum Preflight: Sendable {
    /// `proves`: the holds that are refuted if the provider takes the credential now.
    case send(PushToken, proves: [Int64])
    /// It ends without a try.
    case end(Completion)

    /// - Parameter credential: the one it would be sent with.
    package static func decide(
        _ delivery: ClaimedDelivery,
        credential: String = "",
        holds: [SendHold] = [],
        now: Timestamp
    ) -> Preflight {
        func end(_ next: Completion.Next) -> Preflight { .end(Completion(delivery, attempt: nil, next: next)) }
        if delivery.isCancelled { return end(.cancelled) }
        if delivery.expiresAt <= now { return end(.dead(.expired, reason: nil, providerErrorCode: nil)) }
        if delivery.tokenFault != nil { return end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenUnreadable")) }
        guard let token = delivery.token else { return end(.dead(.unreachable, reason: nil, providerErrorCode: "DeviceNotRegistered")) }
        switch delivery.tokenState {
        case .off: return end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenOff"))
        case .suspect where now < (delivery.tokenStateSince ?? now) + DeviceTokens.suspicion:
            return end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenSuspect"))
        case .suspect, .active, nil: break
        }
        switch HoldDecision.standing(of: delivery, credential: credential, holds: holds) {
        case .held(let hold): return end(.held(.open(hold), after: nil))
        case .free(let proves): return .send(token, proves: proves)
        }
    }
}
