import HTTPClient
import PushContract

/// The access token of a service account, shared by all its requests; one renewal at a time.
actor FCMAccessTokens {
    private let account: FCMServiceAccount
    private let client: CurlClient
    private let timeout: Duration
    private var state = FCMTokenState()
    private var isRenewing = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(account: FCMServiceAccount, client: CurlClient, timeout: Duration) {
        self.account = account
        self.client = client
        self.timeout = timeout
    }

    /// The token to use now, or the outcome if there is none.
    func token(now: Timestamp) async -> Result<String, NoAccessToken> {
        while true {
            switch state.step(now: now) {
            case .use(let token): return .success(token)
            case .useAndRenew(let token):
                // Other requests use the old one until then.
                if !isRenewing { await renew(now: now) }
                if case .use(let fresh) = state.step(now: now) { return .success(fresh) }
                return .success(token)
            case .fail(let outcome): return .failure(NoAccessToken(outcome: outcome))
            case .renew where isRenewing: await withCheckedContinuation { waiters.append($0) }
            case .renew:
                if let failure = await renew(now: now) { return .failure(NoAccessToken(outcome: failure)) }
            }
        }
    }

    /// FCM refused this token.
    func discard(_ refused: String) { state.discard(refused) }

    @discardableResult
    private func renew(now: Timestamp) async -> PushOutcome? {
        isRenewing = true
        let response = await requestToken(now: now)
        isRenewing = false
        defer {
            let waiting = waiters
            waiters = []
            for waiter in waiting { waiter.resume() }
        }
        switch response {
        case .issued(let token, let lifetime):
            state.issued(token, lifetime: lifetime, now: now)
            return nil
        case .refused(let outcome):
            // A cancelled caller is no evidence about Google.
            if !Task.isCancelled { state.failed(outcome, now: now) }
            return outcome
        }
    }

    private func requestToken(now: Timestamp) async -> OAuthResponse {
        do {
            let request = OutboundRequest(
                url: account.tokenURL,
                headers: [("content-type", "application/x-www-form-urlencoded"), ("accept", "application/json")],
                // Base64url and dots need no escapes in a form.
                body: Array(
                    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(try await account.assertion(now: now))"
                        .utf8
                ),
                timeout: timeout
            )
            return OAuthResponse(try await client.send(request), now: now)
        } catch let failure as OutboundFailure {
            var outcome = PushOutcome.notSent(failure)
            // The push itself was not written, regardless of this request's outcome.
            outcome.outcomeUnknown = false
            outcome.unansweredKind = nil
            outcome.providerErrorCode = failure.kind.rawValue
            outcome.detail = "Google's token endpoint: \(outcome.detail)"
            return .refused(outcome)
        } catch {
            return .refused(.failed(Classification(.auth, retry: .afterFix), detail: "The assertion could not be signed: \(error)"))
        }
    }
}

/// There is no access token, so nothing was sent.
struct NoAccessToken: Error {
    var outcome: PushOutcome
}
