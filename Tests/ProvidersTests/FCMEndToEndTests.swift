import HTTPClient
import ProviderSimulator
import Providers
import PushContract
import ServiceKit
import Testing

@Suite struct FCMEndToEndTests {
    @Test("many sends at once ask for one access token, and are accepted")
    func accepted() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm()
            let message = PushMessage(
                title: "T",
                body: "B",
                data: ["a": .integer(1)],
                collapseId: "c",
                expiresAt: simulation.clock.now + .seconds(60),
                sound: "default",
                badge: 1
            )
            await withTaskGroup(of: PushOutcome.self) { group in
                for _ in 0..<20 { group.addTask { await simulation.send(message, by: provider) } }
                for await outcome in group {
                    #expect(outcome.status == .sent, "\(outcome.detail)")
                    #expect(outcome.providerMessageId?.hasPrefix("projects/\(provider.projectId)/messages/") == true)
                }
            }
            #expect(simulation.simulator.requests(provider: .oauth).count == 1)
            #expect(simulation.simulator.requests(provider: .fcm).count == 20)
        }
    }

    @Test("answers become outcomes: a dead token, another project's, an outage, a quota, a page of HTML, the project's APNs key")
    func refused() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm()
            func token(_ name: String) -> String { "token-for-the-case-of-\(name)" }
            simulation.simulator.setToken(token("dead"), ScriptedToken(dead: true))
            simulation.simulator.setToken(token("foreign"), ScriptedToken(project: "another"))
            simulation.simulator.setFaults([
                FaultRule(.fcm, status: 503, reason: "UNAVAILABLE", tokens: [token("outage")], retryAfter: 12),
                FaultRule(.fcm, status: 429, reason: "QUOTA_EXCEEDED", tokens: [token("quota")]),
                FaultRule(.fcm, status: 401, reason: "THIRD_PARTY_AUTH_ERROR", tokens: [token("key")]),
                FaultRule(.fcm, status: 403, reason: "PERMISSION_DENIED", tokens: [token("iam")]),
                FaultRule(.fcm, status: 400, reason: "INVALID_ARGUMENT", tokens: [token("malformed")]),
                FaultRule(provider: .fcm, tokens: [token("html")], effect: .html(status: 502)),
            ])
            let expected: [(String, String?, Classification, Duration?)] = [
                ("dead", "UNREGISTERED", Classification(.tokenNotRegistered, retry: .never, token: .deactivate), nil),
                ("foreign", "SENDER_ID_MISMATCH", Classification(.auth, retry: .never, token: .suspect), nil),
                ("outage", "UNAVAILABLE", Classification(.provider5xx, retry: .backoff), .seconds(12)),
                ("quota", "QUOTA_EXCEEDED", Classification(.unknown, retry: .backoff), .seconds(60)),
                ("key", "THIRD_PARTY_AUTH_ERROR", Classification(.auth, retry: .afterFix), nil),
                ("iam", "PERMISSION_DENIED", Classification(.auth, retry: .afterFix), nil),
                ("malformed", "INVALID_ARGUMENT", Classification(.tokenInvalid, retry: .never, token: .suspect), nil),
                ("html", nil, Classification(.provider5xx, retry: .backoff), nil),
            ]
            for (name, code, classification, retryAfter) in expected {
                let outcome = await simulation.send(by: provider, token: token(name))
                #expect(outcome.providerErrorCode == code, "\(name)")
                #expect(outcome.classification == classification, "\(name)")
                #expect(outcome.retryAfter == retryAfter, "\(name)")
                #expect(!outcome.detail.contains(token(name)))
            }
            #expect(simulation.simulator.requests(provider: .oauth).count == 1)
        }
    }

    @Test("a revoked access token is renewed and the push sent once more")
    func revoked() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm()
            #expect(await simulation.send(by: provider).status == .sent)
            simulation.simulator.revokeAccessTokens()
            let outcome = await simulation.send(by: provider)
            #expect(outcome.status == .sent, "\(outcome.detail)")
            #expect(simulation.simulator.requests(provider: .fcm).map(\.status) == [200, 401, 200])
            #expect(simulation.simulator.requests(provider: .oauth).count == 2)
        }
    }

    @Test("refused with a new access token too, it is the configuration")
    func alwaysRefused() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm()
            simulation.simulator.setFaults([FaultRule(.fcm, status: 401, reason: "UNAUTHENTICATED")])
            let outcome = await simulation.send(by: provider)
            #expect(outcome.classification == Classification(.auth, retry: .afterFix))
            #expect(simulation.simulator.requests(provider: .fcm).count == 2)
        }
    }

    @Test("the access token is renewed ahead, and the old one is used while Google's token endpoint is away")
    func renewal() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm()
            #expect(await simulation.send(by: provider).status == .sent)
            simulation.simulator.setFaults([FaultRule(provider: .oauth, effect: .html(status: 503))])
            simulation.clock.advance(by: .seconds(3400))
            #expect(await simulation.send(by: provider).status == .sent)
            simulation.simulator.setFaults([])
            simulation.clock.advance(by: .seconds(10))
            #expect(await simulation.send(by: provider).status == .sent)
            #expect(simulation.simulator.requests(provider: .oauth).map(\.status) == [200, 503, 200])
        }
    }

    @Test(
        "without an access token nothing is sent: refused is the credential, a server error the provider, no answer the network",
        arguments: [
            (FaultRule(.oauth, status: 400, reason: "invalid_grant"), Classification(.auth, retry: .afterFix), "invalid_grant"),
            (
                FaultRule(provider: .oauth, effect: .html(status: 503)), Classification(.provider5xx, retry: .backoff),
                "TokenEndpointFailed"
            ),
            (FaultRule(provider: .oauth, effect: .hang), ReasonMapping.network, "ResponseTimeout"),
        ]
    )
    func noAccessToken(fault: FaultRule, expected: Classification, code: String) async throws {
        try await Simulation.run { simulation in
            simulation.simulator.setFaults([fault])
            let provider = try simulation.fcm(timeout: .seconds(5))
            await withTaskGroup(of: PushOutcome.self) { group in
                for _ in 0..<5 { group.addTask { await simulation.send(by: provider) } }
                for await outcome in group {
                    #expect(outcome.classification == expected, "\(outcome.detail)")
                    #expect(outcome.providerErrorCode == code, "\(outcome.detail)")
                    #expect(!outcome.outcomeUnknown && outcome.unansweredKind == nil)
                }
            }
            #expect(simulation.simulator.requests(provider: .oauth).count == 1)
            #expect(simulation.simulator.requests(provider: .fcm).isEmpty)
        }
    }

    @Test("an access token that cannot be renewed in time is used while it is valid")
    func slowRenewal() async throws {
        try await Simulation.run { simulation in
            let provider = try simulation.fcm(timeout: .seconds(5))
            #expect(await simulation.send(by: provider).status == .sent)
            simulation.clock.advance(by: .seconds(3400))
            simulation.simulator.setFaults([FaultRule(provider: .oauth, effect: .hang)])
            #expect(await simulation.send(by: provider).status == .sent)
            #expect(simulation.simulator.requests(provider: .oauth).count == 2)
        }
    }

    @Test("a push that is never answered has an unknown outcome")
    func hang() async throws {
        try await Simulation.run { simulation in
            simulation.simulator.setFaults([FaultRule(provider: .fcm, effect: .hang)])
            let outcome = await simulation.send(by: try simulation.fcm(timeout: .seconds(5)))
            #expect(outcome.outcomeUnknown && outcome.unansweredKind == .timeout)
            #expect(outcome.classification == ReasonMapping.network)
        }
    }
}
