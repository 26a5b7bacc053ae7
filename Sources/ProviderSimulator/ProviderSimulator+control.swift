extension ProviderSimulator {
    /// Replaces the fault rules, clears their hit counts and starts the dice anew.
    /// - Parameter seed: nil: the configured one.
    package func setFaults(_ rules: [FaultRule], seed: UInt64? = nil) {
        let now = configuration.now()
        state.with { $0.faults.set(rules, seed: seed ?? configuration.seed, now: now) }
    }

    /// The rules in force with how often each has hit since it was set.
    package var faults: [(rule: FaultRule, hits: Int)] {
        state.with { Array(zip($0.faults.rules, $0.faults.hits)) }
    }

    /// Says what a token is; replaces what was said before.
    package func setToken(_ token: String, _ script: ScriptedToken) {
        state.with { $0.tokens[SimulatorState.canonical(token)] = script }
    }

    /// Removes a token's script: the token is valid again.
    func removeToken(_ token: String) {
        state.with { $0.tokens[SimulatorState.canonical(token)] = nil }
    }

    package func token(_ token: String) -> ScriptedToken? {
        state.with { $0.tokens[SimulatorState.canonical(token)] }
    }

    /// How connections behave from now on; open ones are notified by SETTINGS.
    package func setConnections(_ conditions: ConnectionConditions) { connections.set(conditions) }

    var connectionConditions: ConnectionConditions { connections.conditions }

    /// Sends GOAWAY on every open connection, as at the end of a server's life: streams under way are answered, new ones refused.
    func drainConnections() { connections.drain() }

    /// The ids of an app's broadcast channels, sorted.
    package func channels(of bundle: String) -> [String] { state.with { $0.channels.ids(of: bundle) } }

    /// Deletes every broadcast channel of an app, as Apple does when the capability is switched off.
    package func removeChannels(of bundle: String) { state.with { $0.channels.removeAll(of: bundle) } }

    /// The recorded requests, oldest first.
    /// - Parameter limit: only the newest so many.
    package func requests(
        provider: SimulatedProvider? = nil,
        token: String? = nil,
        limit: Int = .max
    ) -> [RecordedRequest] {
        let wanted = token.map(SimulatorState.canonical)
        let found = state.with { $0.log.kept }.filter { request in
            (provider == nil || request.provider == provider) && (wanted == nil || request.token == wanted)
        }
        return found.suffix(limit)
    }

    /// Forgets the recorded requests and sets the counts to zero.
    package func removeRequests() {
        state.with { $0.log.removeAll() }
    }

    package var statistics: SimulatorStatistics {
        state.with { $0.log.statistics }
    }

    /// Makes every access token issued so far invalid, as when Google revokes them: FCM then answers 401.
    package func revokeAccessTokens() {
        state.with { $0.accessTokens.removeAll() }
    }
}
