/// What becomes of a request: the decision, before anything is written to a socket.
struct Verdict: Sendable, Hashable {
    var outcome: Outcome
    /// Wait so long first.
    var delay: Duration?
    /// The device token the request was for, in the form it is looked up by.
    var token: String?

    enum Outcome: Sendable, Hashable {
        case answer(SimulatedResponse)
        case hang
        case reset
        case refuseStream
        case resetStream
        /// The answer, and GOAWAY behind it.
        case goaway(SimulatedResponse)
        case goawayAbrupt
        /// The head of the answer, and its body after the delay.
        case slowBody(SimulatedResponse)
    }

    init(_ answer: SimulatedResponse, token: String?) {
        outcome = .answer(answer)
        self.token = token
    }

    /// What a fault does to a request that would have been accepted.
    /// - Parameter scripted: builds the rule's answer in the provider's shape.
    init(_ rule: FaultRule, accepted: SimulatedResponse, token: String?, scripted: (FaultResponse) -> SimulatedResponse) {
        self.token = token
        delay = rule.delayMs.map { .milliseconds($0) }
        switch rule.effect {
        case .hang: outcome = .hang
        case .reset: outcome = .reset
        case .refuseStream: outcome = .refuseStream
        case .resetStream: outcome = .resetStream
        case .goaway: outcome = .goaway(accepted)
        case .goawayAbrupt: outcome = .goawayAbrupt
        case .slowBody: outcome = .slowBody(accepted)
        case .delayOnly: outcome = .answer(accepted)
        case .html(let status):
            var answer = SimulatedResponse.html(status: status)
            answer.isFault = true
            outcome = .answer(answer)
        case .answer(let fault):
            var answer = scripted(fault)
            answer.isFault = true
            if let seconds = fault.retryAfter { answer.headers.append(.init("retry-after", String(seconds))) }
            outcome = .answer(answer)
        }
    }

    /// The delay belongs between head and body.
    var delaysBody: Bool {
        if case .slowBody = outcome { true } else { false }
    }

    /// What is answered, if anything is.
    var answer: SimulatedResponse? {
        switch outcome {
        case .answer(let answer), .goaway(let answer), .slowBody(let answer): answer
        default: nil
        }
    }

    /// The key under which it is counted.
    var label: String {
        switch outcome {
        case .answer(let answer): answer.label
        case .hang: "hang"
        case .reset: "reset"
        case .refuseStream: "refuseStream"
        case .resetStream: "resetStream"
        case .goaway(let answer), .slowBody(let answer): answer.label
        case .goawayAbrupt: "goawayAbrupt"
        }
    }
}
