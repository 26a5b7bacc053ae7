import ProviderSimulator
import PushContract
import ServiceKit
import Testing

@testable import Providers

/// One case for every provider code, through real requests: what the simulator answers, and what the outcome says.
@Suite(.timeLimit(.minutes(3)))
struct OutcomeMatrixTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var provider = Provider.apns
        var status: Int
        var code: String?
        var reason: ReasonCode
        var retry: RetryClass
        var token = TokenAction.none
        var refusalScope = RefusalScope.message
        /// FCM: the field at fault. Empty: none is named.
        var field: String?
        var testDescription: String { "\(provider.rawValue) \(status) \(code ?? "–") \(field ?? "")" }

        init(
            _ status: Int,
            _ code: String?,
            _ reason: ReasonCode,
            _ retry: RetryClass,
            _ token: TokenAction = .none,
            _ refusalScope: RefusalScope = .message
        ) {
            self.status = status
            self.code = code
            self.reason = reason
            self.retry = retry
            self.token = token
            self.refusalScope = refusalScope
        }

        static func fcm(
            _ status: Int,
            _ code: String?,
            _ reason: ReasonCode,
            _ retry: RetryClass,
            _ token: TokenAction = .none,
            _ refusalScope: RefusalScope = .message,
            field: String? = nil
        ) -> Row {
            var row = Row(status, code, reason, retry, token, refusalScope)
            row.provider = .fcm
            row.field = field
            return row
        }
    }

    /// Every code of the table, and answers that are not in it.
    static let apns: [Row] =
        rows(of: .provider(.apns)) + [
            Row(410, nil, .tokenNotRegistered, .never, .suspect),
            Row(410, "Novel", .tokenNotRegistered, .never, .suspect),
            Row(400, "SomethingNew", .unknown, .never),
            Row(403, "SomethingNew", .auth, .afterFix, .none, .credential),
            Row(500, "SomethingNew", .provider5xx, .backoff, .none, .provider),
        ]

    static let fcm: [Row] =
        rows(of: .provider(.fcm)) + [
            .fcm(404, "NOT_FOUND", .unknown, .afterFix, .none, .credential),
            .fcm(400, "INVALID_ARGUMENT", .tokenInvalid, .never, .suspect, field: "message.token"),
            .fcm(400, "INVALID_ARGUMENT", .tokenInvalid, .never, .suspect, field: "message.fid"),
            .fcm(400, "INVALID_ARGUMENT", .unknown, .never, field: "message.data[0].value"),
            // Renewed once, and refused again.
            .fcm(401, "UNAUTHENTICATED", .auth, .afterFix, .none, .credential),
            .fcm(403, "PERMISSION_DENIED", .auth, .afterFix, .none, .credential),
            .fcm(502, nil, .provider5xx, .backoff, .none, .provider),
            .fcm(504, nil, .provider5xx, .backoff, .none, .provider),
            .fcm(400, "UNSPECIFIED_ERROR", .unknown, .never),
            .fcm(500, "UNSPECIFIED_ERROR", .provider5xx, .backoff, .none, .provider),
        ]

    /// The rows of the table of provider codes, with the status each is documented with.
    private static func rows(of source: ProviderCode.Source) -> [Row] {
        ProviderCode.table.filter { $0.source == source }.compactMap { known in
            guard let meaning = known.classification else { return nil }
            let scope = known.scope ?? scope(of: known.status)
            var row = Row(known.status, known.code, meaning.reasonCode, meaning.retryClass, meaning.tokenAction, scope)
            if source == .provider(.fcm) { row.provider = .fcm }
            // The provider token is as young as the test: a clock is wrong, and another token would not help.
            if known.code == "ExpiredProviderToken" { row.retry = .afterFix }
            // What it means depends on the field it names: the cases of `fcm`. Here none that is the token.
            if known.code == "INVALID_ARGUMENT" { row.field = "message.notification" }
            return row
        }
    }

    private static func scope(of status: Int) -> RefusalScope {
        switch status {
        case 403: .credential
        case 500...599: .provider
        default: .message
        }
    }

    @Test("every provider code of the table becomes its reason, retry class, token action, refusal scope and attempt")
    func rows() async throws {
        try await Simulation.run { simulation in
            let (apns, fcm) = (try simulation.apns(), try simulation.fcm())
            for row in Self.apns + Self.fcm {
                simulation.simulator.setFaults([Self.fault(row)])
                let provider: any PushProvider = row.provider == .apns ? apns : fcm
                let outcome = await simulation.send(by: provider)
                let name = row.testDescription
                // What the attempt's row gets.
                #expect(outcome.status == .failed, "\(name)")
                #expect(outcome.reasonCode == row.reason, "\(name)")
                if row.code != nil { #expect(outcome.providerErrorCode == row.code, "\(name)") }
                #expect(outcome.httpStatus == row.status, "\(name)")
                #expect(!outcome.outcomeUnknown, "\(name)")
                // What follows from it.
                #expect(outcome.retryClass == row.retry, "\(name)")
                #expect(outcome.tokenAction == row.token, "\(name)")
                #expect(outcome.refusalScope == row.refusalScope, "\(name)")
                if row.status == 410, row.code != "Novel", row.code != nil { #expect(outcome.tokenInvalidSince != nil, "\(name)") }
            }
        }
    }

    private static func fault(_ row: Row) -> FaultRule {
        let provider: SimulatedProvider = row.provider == .apns ? .apns : .fcm
        guard row.provider == .apns || row.code != nil else { return FaultRule(provider: provider, effect: .html(status: row.status)) }
        return FaultRule(provider, status: row.status, reason: row.code, field: row.field)
    }

    @Test("the quota of a device or a topic delays that target alone")
    func narrowQuota() throws {
        for (subject, refusalScope) in [
            ("project:demo", RefusalScope.quota), ("project:smart-device-topic", .quota), ("device", .message),
            ("topic:/topics/news", .message),
        ] {
            #expect(RefusalScope.fcm(status: 429, errorCode: "QUOTA_EXCEEDED", quotaSubjects: [subject]) == refusalScope)
        }
        #expect(RefusalScope.fcm(status: 429, errorCode: nil, quotaSubjects: []) == .quota)
    }

    @Test(
        "OAuth: a refusal is the credential's fault, a server error of the token endpoint the provider's, 429 the network's",
        arguments: [(400, "invalid_grant"), (401, "unauthorized_client"), (429, "rate_limit_exceeded"), (503, "internal_failure")]
    )
    func oauth(status: Int, error: String) async throws {
        try await Simulation.run { simulation in
            simulation.simulator.setFaults([FaultRule(.oauth, status: status, reason: error)])
            let outcome = await simulation.send(by: try simulation.fcm())
            #expect(outcome.status == .failed && !outcome.outcomeUnknown)
            #expect(outcome.reasonCode == (status >= 500 ? .provider5xx : status == 429 ? .network : .auth))
            #expect(outcome.retryClass == (status >= 429 ? .backoff : .afterFix))
            #expect(outcome.refusalScope == (status >= 429 ? .provider : .credential))
            #expect(simulation.simulator.statistics.answers["fcm"] == nil)
        }
    }

    @Test("an argument fault that names no field is decided by one message without content, which is not delivered")
    func ambiguous() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm()
            for (times, reason, action) in [(2, ReasonCode.tokenInvalid, TokenAction.suspect), (1, .unknown, .none)] {
                simulation.simulator.removeRequests()
                simulation.simulator.setFaults([FaultRule(.fcm, status: 400, reason: "INVALID_ARGUMENT", times: times, field: "")])
                let outcome = await simulation.send(by: provider)
                #expect(outcome.reasonCode == reason && outcome.tokenAction == action && outcome.retryClass == .never)
                let requests = simulation.simulator.requests(provider: .fcm)
                #expect(requests.count == 2)
                #expect(requests.last?.body == #"{"message":{"token":"\#(Samples.fcmToken)"},"validate_only":true}"#)
            }
        }
    }

    @Test("a dry run of FCM is checked by FCM and delivers nothing; of APNs it shows the request and sends none; neither has the token")
    func dryRun() async throws {
        try await Simulation.run { simulation in
            let message = PushMessage(title: "T", data: ["a": .integer(1)], collapseId: "c", expiresAt: simulation.clock.now + .seconds(60))
            let apns = try simulation.apns()
            let shown = try await apns.dryRun(message, to: Samples.target(.apns), attemptId: "a", now: simulation.clock.now)
            #expect(shown.answer == nil && simulation.simulator.requests(provider: .apns).isEmpty)
            #expect(shown.request.url.hasSuffix("/3/device/(token)") && shown.request.headers["authorization"] == nil)
            // What is shown is what a send with the same values makes.
            #expect(await simulation.send(message, by: apns, attemptId: "a").status == .sent)
            let sent = try #require(simulation.simulator.requests(provider: .apns).last)
            #expect(String(decoding: shown.request.body, as: UTF8.self) == sent.body)
            for (name, value) in shown.request.headers { #expect(sent.header(name) == value, "\(name)") }
            #expect(Set(shown.request.headers.keys).isSuperset(of: ["apns-topic", "apns-push-type", "apns-id", "apns-collapse-id"]))

            let fcm = try simulation.fcm()
            let checked = try await fcm.dryRun(message, to: Samples.target(.fcm), attemptId: "a", now: simulation.clock.now)
            #expect(checked.answer?.status == .sent && checked.answer?.providerMessageId?.hasSuffix("fake_message_id") == true)
            let body = try Samples.json(try #require(simulation.simulator.requests(provider: .fcm).last?.body))
            #expect(body["validate_only"] == .bool(true) && body["message"]?["token"] == .string(Samples.fcmToken))
            let text = String(decoding: checked.request.body, as: UTF8.self)
            #expect(!text.contains(Samples.fcmToken) && text.contains(#""token":"(token)""#) && !text.contains("validate_only"))
            await #expect(throws: PushError.self) {
                try await apns.dryRun(
                    PushMessage(data: ["aps": .null]),
                    to: Samples.target(.apns),
                    attemptId: "a",
                    now: simulation.clock.now
                )
            }
        }
    }

    @Test("an installation id goes as fid, and validate_only is passed on to FCM and refused for APNs")
    func addresses() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm()
            var target = Samples.target(.fcm, token: "cFy3xYtuT1W8installationid")
            target.address = .fid
            var message = PushMessage(title: "T")
            message.validateOnly = true
            let outcome = await provider.send(message, to: target, attemptId: "a", now: simulation.clock.now)
            #expect(outcome.status == .sent, "\(outcome.detail)")
            #expect(outcome.providerMessageId?.hasSuffix("fake_message_id") == true)
            let body = try Samples.json(try #require(simulation.simulator.requests(provider: .fcm).last?.body))
            #expect(body["message"]?["fid"] == .string("cFy3xYtuT1W8installationid"))
            #expect(body["message"]?["token"] == nil && body["validate_only"] == .bool(true))
            #expect(throws: PushError.self) { try PushValidation.validate(message, for: .apns, app: Samples.bundle) }
        }
    }
}
