import PushContract

/// Decides on token requests and issues access tokens.
struct OAuthRequestHandler: Sendable {
    let grant: OAuthGrant
    /// How long an access token is good for, in seconds.
    let lifetimeSeconds: Int
    let state: SimulatorState

    func decide(_ request: SimulatedRequest, now: Timestamp, identifiers: ResponseIdentifiers) -> Verdict {
        guard request.method == "POST", request.path == "/token" else { return Verdict(.html(status: 404), token: nil) }
        do throws(OAuthRefusal) {
            let account = try grant.check(request, now: now)
            return issue(to: account, now: now, identifiers: identifiers)
        } catch {
            return Verdict(OAuthResponses.refused(error), token: nil)
        }
    }

    private func issue(to account: GoogleTrustedAccount, now: Timestamp, identifiers: ResponseIdentifiers) -> Verdict {
        let token = "ya29.simulated-\(identifiers.unique)"
        let answer = OAuthResponses.issued(token, lifetimeSeconds: lifetimeSeconds)
        let rule = state.with { $0.faults.take(provider: .oauth, token: nil, now: now) }
        let verdict = rule.map { rule in
            Verdict(rule, accepted: answer, token: nil) { fault in
                OAuthResponses.refused(OAuthRefusal(fault.reason ?? "internal_failure", "Scripted fault."), status: fault.status)
            }
        }
        if (verdict ?? Verdict(answer, token: nil)).answer == answer {
            let expires = now.advanced(by: .seconds(lifetimeSeconds))
            state.with { $0.accessTokens.add(token, for: account, expires: expires, now: now) }
        }
        return verdict ?? Verdict(answer, token: nil)
    }
}
