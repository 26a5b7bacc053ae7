import PushContract

/// Decides on APNs requests: the checks, then what is scripted for the token, then the faults.
struct APNsRequestHandler: Sendable {
    /// More remembered authorizations than any honest sender uses at once.
    private static let rememberedProviders = 256

    let checks: APNsRequestChecks
    let environment: APNsEnvironment
    let state: SimulatorState

    func decide(_ request: SimulatedRequest, now: Timestamp, identifiers: ResponseIdentifiers) -> Verdict {
        do throws(APNsRefusal) {
            let notification = try check(request, now: now)
            return accepted(notification.token, request, now: now, identifiers: identifiers)
        } catch {
            let named = request.path.split(separator: "/").dropFirst(2).first.map { SimulatorState.canonical(String($0)) }
            return Verdict(APNsResponses.refused(error, request, environment: environment, identifiers: identifiers), token: named)
        }
    }

    /// Who sends, by the request's provider token; its signature is checked once.
    func provider(of request: SimulatedRequest) throws(APNsRefusal) -> APNsProvider {
        let authorization = request.header("authorization")
        if let known = authorization.flatMap({ header in state.with { $0.providers[header] } }) { return known }
        let provider = try checks.provider(request, remembered: nil)
        if let authorization { remember(provider, as: authorization) }
        return provider
    }

    private func remember(_ provider: APNsProvider, as authorization: String) {
        state.with { contents in
            if contents.providers.count >= Self.rememberedProviders { contents.providers = [:] }
            contents.providers[authorization] = provider
        }
    }

    private func check(_ request: SimulatedRequest, now: Timestamp) throws(APNsRefusal) -> APNsNotification {
        let authorization = request.header("authorization")
        let remembered = authorization.flatMap { header in state.with { $0.providers[header] } }
        let notification = try checks.check(request, remembered: remembered, now: now)
        if let authorization, remembered == nil { remember(notification.provider, as: authorization) }
        try checkUpdates(of: request.connection, by: notification.provider)
        let script = state.with { $0.tokens[notification.token] }
        try APNsTokenChecks.check(notification, script: script, environment: environment, now: now)
        return notification
    }

    /// Apple counts provider tokens a connection: a new one at most every 20 minutes.
    private func checkUpdates(of connection: String, by provider: APNsProvider) throws(APNsRefusal) {
        guard !connection.isEmpty else { return }
        let last = state.with { contents -> Int64? in
            guard let last = contents.tokenTimes[connection] else {
                if contents.tokenTimes.count >= 4096 { contents.tokenTimes = [:] }
                contents.tokenTimes[connection] = provider.issuedAt
                return nil
            }
            if abs(provider.issuedAt - last) >= APNsAuthorization.minimumRenewal { contents.tokenTimes[connection] = provider.issuedAt }
            return last
        }
        guard let last, last != provider.issuedAt, abs(provider.issuedAt - last) < APNsAuthorization.minimumRenewal else { return }
        throw APNsRefusal(.tooManyProviderTokenUpdates, "provider tokens of one connection must be 20 minutes apart")
    }

    private func accepted(_ token: String, _ request: SimulatedRequest, now: Timestamp, identifiers: ResponseIdentifiers) -> Verdict {
        let answer = APNsResponses.accepted(request, environment: environment, identifiers: identifiers)
        guard let rule = state.with({ $0.faults.take(provider: .apns, token: token, now: now) }) else {
            return Verdict(answer, token: token)
        }
        return Verdict(rule, accepted: answer, token: token) { fault in
            APNsResponses.scripted(
                fault,
                timestamp: fault.timestamp ?? now.milliseconds,
                request,
                environment: environment,
                identifiers: identifiers
            )
        }
    }
}
