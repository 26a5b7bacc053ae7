package import PushContract

/// Whether a claimed delivery is to be sent at all.
package enum Preflight: Sendable {
    /// `circuitsToClose`: the holds that are refuted if the provider takes the credential now.
    case send(PushToken, circuitsToClose: [Int64])
    /// It ends without a try.
    case end(Completion)

    /// - Parameter credential: the one it would be sent with.
    package static func decide(
        _ delivery: ClaimedDelivery,
        credential: String = "",
        circuits: [Circuit] = [],
        now: Timestamp
    ) -> Preflight {
        func end(_ next: Completion.Next) -> Preflight { .end(Completion(delivery, attempt: nil, next: next)) }
        if delivery.isCancelled { return end(.cancelled) }
        if delivery.expiresAt <= now { return end(.dead(.expired, reason: nil, providerErrorCode: nil)) }
        if delivery.tokenFault != nil { return end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenUnreadable")) }
        guard let token = delivery.token else { return end(.dead(.unreachable, reason: nil, providerErrorCode: "DeviceNotRegistered")) }
        switch delivery.tokenState {
        case .inactive: return end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenInactive"))
        case .suspect where now < (delivery.tokenStateSince ?? now) + DeviceTokens.suspectPeriod:
            return end(.dead(.unreachable, reason: nil, providerErrorCode: "TokenSuspect"))
        case .suspect, .active, nil: break
        }
        switch CircuitDecision.admission(of: delivery, credential: credential, circuits: circuits) {
        case .blocked(let circuit): return end(.blocked(.open(circuit), after: nil))
        case .allowed(let circuitsToClose): return .send(token, circuitsToClose: circuitsToClose)
        }
    }
}
