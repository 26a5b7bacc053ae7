import Attempts
import Delivery
import Foundation
import FuzzSupport
import HTTPClient
import PushContract
import ServiceKit

@testable import Providers

/// Mutated answers of APNs, FCM and Google's token endpoint through their readers to the row of an attempt, until time is up or a promise
/// breaks: the row is stored whole, no code is long or has control characters, no token is repeated, 200 alone is success, and no token is
/// deactivated but by a code of the table.
@main
struct AnswerFuzz: Fuzzer {
    private var apns: ByteMutator
    private var fcm: ByteMutator
    private var values: ByteMutator
    private var answers = 0
    private var outcomes: [String: Int] = [:]
    private let now = Timestamp(seconds: 1_790_000_000)

    init(seed: UInt64) {
        apns = ByteMutator(seed: seed, corpus: AnswerCorpus.apns, tokens: AnswerCorpus.tokens)
        fcm = ByteMutator(seed: seed &+ 1, corpus: AnswerCorpus.fcm, tokens: AnswerCorpus.tokens)
        values = ByteMutator(seed: seed &+ 2, corpus: AnswerCorpus.values, tokens: AnswerCorpus.tokens)
    }

    var summary: String {
        let outcomes = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return "\(answers) answers: \(outcomes)"
    }

    mutating func step() throws {
        let ofAPNs = answer(apns.next())
        var outcome = APNsResponse(ofAPNs, now: now).outcome(latency: ofAPNs.latency)
        try check(&outcome, of: .apns, AnswerCorpus.apnsToken, ofAPNs)
        for id in APNsChannelRequest.ids(in: ofAPNs) ?? [] where !APNsChannelRules.isId(id) { throw fault("the channel \(id)", ofAPNs) }

        let ofFCM = answer(fcm.next())
        let target = PushTarget(provider: .fcm, token: AnswerCorpus.fcmToken, app: "com.example.app")
        outcome = FCMResponse(ofFCM, now: now).outcome(latency: ofFCM.latency, target: target)
        try check(&outcome, of: .fcm, AnswerCorpus.fcmToken, ofFCM)
        switch OAuthResponse(ofFCM, now: now) {
        case .refused(var refusal):
            guard refusal.tokenAction == .none else { throw fault("a token is judged by the token endpoint", ofFCM) }
            try checkTexts(&refusal, of: .fcm, AnswerCorpus.fcmToken, ofFCM)
        case .issued(let token, let lifetime):
            guard ofFCM.status == 200, PushValidation.isHeaderText(token), (.zero...Duration.seconds(86_400)).contains(lifetime) else {
                throw fault("an access token of \(lifetime)", ofFCM)
            }
        }
    }

    private mutating func answer(_ body: [UInt8]) -> OutboundResponse {
        answers += 1
        var headers = HeaderFields()
        for name in ["apns-id", "apns-request-id", "apns-channel-id", "retry-after", "date"] where values.random.next(3) == 0 {
            headers.append(name, String(decoding: values.next(changes: 3), as: UTF8.self))
        }
        return OutboundResponse(status: values.random.pick(AnswerCorpus.statuses), headers: headers, body: body, latency: .milliseconds(7))
    }

    private mutating func check(_ outcome: inout PushOutcome, of provider: Provider, _ token: String, _ answer: OutboundResponse) throws {
        outcome.providerDate = answer.header("date")
        outcomes[outcome.reasonCode?.rawValue ?? "accepted", default: 0] += 1
        guard (outcome.status == .sent) == (answer.status == 200), (outcome.reasonCode == nil) == (outcome.status == .sent) else {
            throw fault("\(answer.status) is \(outcome.status)", answer)
        }
        if outcome.status == .sent, outcome.tokenAction != .none { throw fault("a token is judged after success", answer) }
        if outcome.tokenAction == .deactivate, !namesDeadToken(answer.body, provider) { throw fault("a token is deactivated", answer) }
        if let wait = outcome.retryAfter, !(.zero...Duration.seconds(86_400)).contains(wait) { throw fault("a wait of \(wait)", answer) }
        try checkTexts(&outcome, of: provider, token, answer)
    }

    /// Whether some string of the body is a code that deactivates, as Foundation reads it.
    private func namesDeadToken(_ body: [UInt8], _ provider: Provider) -> Bool {
        guard let document = try? JSONSerialization.jsonObject(with: Data(body), options: .fragmentsAllowed) else { return false }
        let dead = ProviderCode.table.filter { $0.source == .provider(provider) && $0.classification?.tokenAction == .deactivate }.map(
            \.code
        )
        func names(_ value: Any) -> Bool {
            switch value {
            case let text as String: dead.contains(text)
            case let list as [Any]: list.contains(where: names)
            case let object as [String: Any]: object.values.contains(where: names)
            default: false
            }
        }
        return names(document)
    }

    /// What the pipeline does with every outcome, and the row it becomes.
    private func checkTexts(_ outcome: inout PushOutcome, of provider: Provider, _ token: String, _ answer: OutboundResponse) throws {
        outcome.removeTokens(token)
        let identity = AttemptIdentity(
            uid: "u1",
            platform: provider == .apns ? .ios : .android,
            provider: provider,
            environment: .production,
            app: "com.example.app",
            tokenHash: try TokenHash.of(token, provider: provider),
            operationKey: "send:1",
            attemptNumber: 1,
            requestId: "r1"
        )
        let attempt = Attempt(identity, outcome, at: now)
        var batch = AttemptBatch()
        do throws(AttemptFault) {
            try batch.append(attempt)
        } catch {
            throw fault("the row is not stored: \(error.code) of \(error.field)", answer)
        }
        for text in [attempt.providerErrorCode, outcome.providerErrorCode, attempt.providerMessageId, outcome.providerMessageId] {
            guard let text else { continue }
            guard text.unicodeScalars.count <= 200, !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
            else {
                throw fault("a code is long or has control characters: \(text)", answer)
            }
            if holds(text, token) { throw fault("a token is stored: \(text)", answer) }
        }
        guard !holds(outcome.detail, token), outcome.detail.unicodeScalars.count <= 500 else {
            throw fault("the log's line: \(outcome.detail)", answer)
        }
    }

    private func holds(_ text: String, _ token: String) -> Bool { text.lowercased().contains(token.lowercased()) }

    private func fault(_ what: String, _ answer: OutboundResponse) -> FuzzFault {
        FuzzFault("\(what); status \(answer.status), header \(Array(answer.headers))", input: answer.body)
    }
}
