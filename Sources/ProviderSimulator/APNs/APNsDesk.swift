import PushContract

/// Decides on APNs requests: the checks, then what is scripted for the token, then the faults.
struct APNsDesk: Sendable {
    /// More remembered authorizations than any honest sender uses at once.
    private static let rememberedProviders = 256

    let checks: APNsRequestChecks
    let environment: APNsEnvironment
    let state: SimulatorState

    func decide(_ request: SimulatedRequest, now: Timestamp, identifiers: AnswerIdentifiers) -> Verdict {
        do throws(APNsRefusal) {
            let notification = try check(request, now: now)
            return accepted(notification.token, request, now: now, identifiers: identifiers)
        } catch {
            let named = request.path.split(separator: "/").dropFirst(2).first.map { SimulatorState.canonical(String($0)) }
            return Verdict(APNsAnswers.refused(error, request, environment: environment, identifiers: identifiers), token: named)
        }
    }

    private func check(_ request: SimulatedRequest, now: Timestamp) throws(APNsRefusal) -> APNsNotification {
        let authorization = request.header("authorization")
        let remembered = authorization.flatMap { header in state.with { $0.providers[header] } }
        let notification = try checks.check(request, remembered: remembered, now: now)
        let script = state.with { contents in
            if let authorization, remembered == nil {
                if contents.providers.count >= Self.rememberedProviders { contents.providers = [:] }
                contents.providers[authorization] = notification.provider
            }
            return contents.tokens[notification.token]
        }
        try APNsTokenChecks.check(notification, script: script, environment: environment, now: now)
        return notification
    }

    private func accepted(_ token: String, _ request: SimulatedRequest, now: Timestamp, identifiers: AnswerIdentifiers) -> Verdict {
        let answer = APNsAnswers.accepted(request, environment: environment, identifiers: identifiers)
        guard let rule = state.with({ $0.faults.take(provider: .apns, token: token) }) else { return Verdict(answer, token: token) }
        return Verdict(rule, accepted: answer, token: token) { fault in
            APNsAnswers.scripted(
                fault,
                timestamp: fault.timestamp ?? now.milliseconds,
                request,
                environment: environment,
                identifiers: identifiers
            )
        }
    }
}
