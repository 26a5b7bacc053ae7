import PushContract

/// Decides on FCM requests: the checks, then what is scripted for the token, then the faults.
struct FCMRequestHandler: Sendable {
    let state: SimulatorState

    func decide(_ request: SimulatedRequest, now: Timestamp, identifiers: ResponseIdentifiers) -> Verdict {
        // An unknown path never reaches the API: Google's front answers with its own page.
        guard let project = FCMRequestChecks.project(of: request) else { return Verdict(.html(status: 404), token: nil) }
        let holder = request.bearer.flatMap { bearer in state.with { $0.accessTokens.holder(of: bearer, now: now) } }
        var token: String?
        do throws(FCMError) {
            let send = try FCMRequestChecks.check(request, project: project, holder: holder)
            token = send.target.token
            let script = token.flatMap { token in state.with { $0.tokens[SimulatorState.canonical(token)] } }
            try FCMRequestChecks.checkToken(of: send, script: script)
            return accepted(send, now: now, identifiers: identifiers)
        } catch {
            return Verdict(FCMResponses.refused(error), token: token)
        }
    }

    private func accepted(_ send: FCMSend, now: Timestamp, identifiers: ResponseIdentifiers) -> Verdict {
        let messageId = send.validateOnly ? "fake_message_id" : "0:\(now.microseconds)%\(identifiers.unique.prefix(16).lowercased())"
        let answer = FCMResponses.accepted(project: send.project, messageId: messageId)
        let token = send.target.token
        guard let rule = state.with({ $0.faults.take(provider: .fcm, token: token, now: now) }) else {
            return Verdict(answer, token: token)
        }
        return Verdict(rule, accepted: answer, token: token) { fault in
            fault.status < 300 ? answer : FCMResponses.refused(.scripted(fault))
        }
    }
}
