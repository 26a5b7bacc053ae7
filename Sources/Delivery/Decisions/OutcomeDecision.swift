package import PushContract

/// From a provider's answer to everything that is written about it.
package enum OutcomeDecision {
    /// The moments of one try, by the database's clock.
    package struct Moments: Sendable, Hashable {
        package var startedAt: Timestamp
        package var now: Timestamp

        package init(startedAt: Timestamp, now: Timestamp) {
            self.startedAt = startedAt
            self.now = now
        }
    }

    /// - Parameters:
    ///   - credential: the one it was sent with.
    ///   - hasOtherEnvironment: there is a credential to try the token with in the other environment.
    ///   - proves: the holds that are refuted if the provider took it.
    ///   - random: in 0...1, for the jitter of a retry.
    package static func completion(
        of delivery: ClaimedDelivery,
        to token: PushToken,
        result: DeliveryResult,
        credential: String = "",
        hasOtherEnvironment: Bool = false,
        circuitsToClose: [Int64] = [],
        at moments: Moments,
        delays: RetryDelays,
        random: Double
    ) -> Completion {
        var attempt = Attempt(delivery.attemptIdentity(token), status: .sent, attemptedAt: moments.startedAt)
        attempt.pushType = result.pushType
        attempt.latencyMs = result.latency.map { Int32(clamping: $0.microseconds / 1000) }
        let scope = CredentialScope(
            provider: delivery.provider,
            app: delivery.app,
            environment: delivery.environment,
            credential: credential
        )
        let circuitsClosed = CircuitDecision.isCredentialAccepted(result.outcome) ? circuitsToClose : []
        switch result.outcome {
        case .accepted(let messageId):
            attempt.providerMessageId = messageId
            // Only a suspect token has something to prove.
            let feedback =
                delivery.tokenState == .suspect ? delivery.feedback(.valid, token, cause: "", credential: credential, at: moments) : nil
            return Completion(
                delivery,
                attempt: attempt,
                feedback: feedback,
                sample: RefusalSample(.good, at: scope),
                tokenEnvironment: EnvironmentDecision.afterAcceptance(of: delivery, to: token),
                circuitsClosed: circuitsClosed,
                next: .sent(providerMessageId: messageId)
            )
        case .refused(let refusal):
            attempt.status = .failed
            attempt.reasonCode = refusal.classification.reasonCode
            attempt.providerErrorCode = refusal.providerErrorCode.map { String($0.prefix(200)) }
            let tokenEnvironment = EnvironmentDecision.afterRefusal(refusal, of: delivery, to: token, hasOther: hasOtherEnvironment)
            if case .resolved? = tokenEnvironment {
                // Neither environment takes it: what counts is the refusal where it was said to belong.
                var otherScope = scope
                otherScope.environment = delivery.environment.other
                var feedback = delivery.feedback(.suspect, token, cause: EnvironmentDecision.code, credential: credential, at: moments)
                feedback.environment = otherScope.environment
                return Completion(
                    delivery,
                    attempt: attempt,
                    feedback: feedback,
                    sample: RefusalSample(.ambiguous, at: otherScope),
                    tokenEnvironment: tokenEnvironment,
                    circuitsClosed: circuitsClosed,
                    next: .dead(.failed, reason: .tokenInvalid, providerErrorCode: EnvironmentDecision.code)
                )
            }
            let opening = CircuitDecision.opening(for: delivery, after: refusal, credential: credential, delays: delays, random: random)
            let next: Completion.Next
            if let opening, moments.now < delivery.expiresAt {
                next = .blocked(.opening(opening), after: refusal.classification.reasonCode)
            } else {
                next = self.next(of: delivery, after: refusal, now: moments.now, delays: delays, random: random)
            }
            return Completion(
                delivery,
                attempt: attempt,
                feedback: feedback(delivery, token, refusal, credential: credential, at: moments),
                sample: sample(refusal.classification.tokenAction).map { RefusalSample($0, at: scope) },
                tokenEnvironment: tokenEnvironment,
                circuitsClosed: circuitsClosed,
                pause: RateLimitDecision.request(for: delivery, after: refusal),
                next: next
            )
        }
    }

    private static func next(
        of delivery: ClaimedDelivery,
        after refusal: DeliveryResult.Refusal,
        now: Timestamp,
        delays: RetryDelays,
        random: Double
    ) -> Completion.Next {
        let reason = refusal.classification.reasonCode
        let failure = RetryDecision.Failure(
            classification: refusal.classification,
            provider: delivery.provider,
            attemptNumber: delivery.attemptNumber,
            isThrottled: refusal.isThrottled,
            retryAfter: refusal.retryAfter,
            isOutcomeUnknown: refusal.isOutcomeUnknown
        )
        let decision = RetryDecision.after(
            failure,
            policy: delivery.policy,
            now: now,
            expiresAt: delivery.expiresAt,
            delays: delays,
            random: random
        )
        switch decision {
        case .retry(let at): return .retry(at: at, after: reason)
        case .expired: return .dead(.expired, reason: reason, providerErrorCode: refusal.providerErrorCode)
        case .give: return .dead(.failed, reason: reason, providerErrorCode: refusal.providerErrorCode)
        }
    }

    private static func feedback(
        _ delivery: ClaimedDelivery,
        _ token: PushToken,
        _ refusal: DeliveryResult.Refusal,
        credential: String,
        at moments: Moments
    ) -> TokenFeedback? {
        let cause = refusal.providerErrorCode ?? refusal.classification.reasonCode.rawValue
        switch refusal.classification.tokenAction {
        case .none: return nil
        case .suspect: return delivery.feedback(.suspect, token, cause: cause, credential: credential, at: moments)
        case .deactivate: return delivery.feedback(.deactivate(goneAt: refusal.goneAt), token, cause: cause, credential: credential, at: moments)
        }
    }
}

extension OutcomeDecision {
    private static func sample(_ action: TokenAction) -> RefusalSample.Kind? {
        switch action {
        case .none: nil
        case .suspect: .ambiguous
        case .deactivate: .gone
        }
    }
}

extension ClaimedDelivery {
    func attemptIdentity(_ token: PushToken) -> AttemptIdentity {
        AttemptIdentity(
            sendId: sendId,
            uid: uid,
            deviceId: deviceId,
            platform: platform,
            provider: provider,
            environment: environment,
            app: app,
            tokenHash: token.hash,
            attemptNumber: attemptNumber,
            requestId: requestId,
            appVersion: appVersion
        )
    }

    fileprivate func feedback(
        _ verdict: TokenFeedback.Verdict,
        _ token: PushToken,
        cause: String,
        credential: String,
        at moments: OutcomeDecision.Moments
    ) -> TokenFeedback {
        TokenFeedback(
            verdict: verdict,
            tokenHash: token.hash,
            provider: provider,
            app: app,
            cause: cause,
            registrationVersion: registrationVersion,
            sentAt: moments.startedAt,
            environment: environment,
            credential: credential,
            attemptId: attemptIdentity(token).attemptId
        )
    }
}
