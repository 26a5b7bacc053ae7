import PushContract
import ServiceKit
import Testing

@testable import ProviderSimulator

@Suite("Faults")
struct FaultTests {
    @Test("a share hits that part of the requests, the same ones with the same seed")
    func share() {
        var registry = FaultRegistry(seed: 7)
        registry.set([FaultRule(.apns, status: 503, share: 0.1)], seed: 7)
        let first = (0..<10_000).map { _ in registry.take(provider: .apns, token: "a") != nil }
        registry.set([FaultRule(.apns, status: 503, share: 0.1)], seed: 7)
        let second = (0..<10_000).map { _ in registry.take(provider: .apns, token: "a") != nil }
        #expect(first == second)
        #expect((900...1100).contains(first.count { $0 }))
        registry.set([FaultRule(.apns, status: 503, share: 0.1)], seed: 8)
        let other = (0..<10_000).map { _ in registry.take(provider: .apns, token: "a") != nil }
        #expect(other != first)
    }

    @Test("shares of several rules add up")
    func sharesAddUp() {
        var registry = FaultRegistry(seed: 1)
        registry.set([FaultRule(.fcm, status: 503, share: 0.5), FaultRule(.fcm, status: 500, share: 0.5)], seed: 1)
        let statuses = (0..<1000).map { _ in registry.take(provider: .fcm, token: nil)?.effect }
        #expect(statuses.allSatisfy { $0 != nil })
        #expect(registry.hits.count == 2 && registry.hits.allSatisfy { (400...600).contains($0) })
    }

    @Test("a rule with times is used up")
    func times() {
        var registry = FaultRegistry(seed: 1)
        registry.set([FaultRule(.apns, status: 503, times: 2), FaultRule(.apns, status: 500, times: 1)], seed: 1)
        let effects = (0..<5).map { _ in registry.take(provider: .apns, token: "a")?.effect }
        let answers = effects.map { effect -> Int? in if case .answer(let answer) = effect { answer.status } else { nil } }
        #expect(answers == [503, 503, 500, nil, nil])
    }

    @Test("a rule hits its provider and its tokens only")
    func matching() {
        var registry = FaultRegistry(seed: 1)
        registry.set([FaultRule(.apns, status: 503, tokens: ["AB"])], seed: 1)
        #expect(registry.take(provider: .fcm, token: "ab") == nil)
        #expect(registry.take(provider: .apns, token: "cd") == nil)
        #expect(registry.take(provider: .apns, token: nil) == nil)
        #expect(registry.take(provider: .apns, token: "ab") != nil)
        registry.set([FaultRule(provider: .fcm, tokenPrefix: "demo-", effect: .hang)], seed: 1)
        #expect(registry.take(provider: .fcm, token: "other") == nil)
        #expect(registry.take(provider: .fcm, token: "demo-1")?.effect == .hang)
    }

    @Test("the generator is SplitMix64", arguments: [(UInt64(1_234_567), [UInt64(6_457_827_717_110_365_317), 3_203_168_211_198_807_973])])
    func generator(seed: UInt64, expected: [UInt64]) {
        var random = SplitMix64(seed: seed)
        #expect([random.next(), random.next()] == expected)
    }

    @Test(
        "rules are read from JSON and written back",
        arguments: [
            #"[{"answer":{"reason":"ServiceUnavailable","status":503},"provider":"apns","retryAfter":30,"share":0.1}]"#,
            #"[{"answer":{"reason":"Unregistered","status":410},"provider":"apns","share":1,"times":3,"timestamp":1700000000000,"tokens":["ab"]}]"#,
            #"[{"delayMs":50,"provider":"fcm","share":1,"tokenPrefix":"demo-"}]"#,
            #"[{"hang":true,"provider":"fcm","share":1},{"provider":"oauth","reset":true,"share":0.5}]"#,
            #"[{"answer":{"status":502},"html":true,"provider":"fcm","share":1}]"#,
        ]
    )
    func reading(text: String) throws {
        let rules = try FaultRuleReader.rules(from: try #require(JSONValue(bytes: Array(text.utf8))))
        #expect(String(decoding: JSONValue.array(rules.map { .object($0.json) }).bytes, as: UTF8.self) == text)
    }

    @Test(
        "what is not understood is named",
        arguments: [
            (#"{}"#, "the body must be a JSON list of fault rules"),
            (#"[1]"#, "faults[0]: must be an object"),
            (
                #"[{"provider":"apns","sharre":0.1}]"#,
                "faults[0].sharre: unknown key; known are provider, share, answer, tokens, tokenPrefix, times, retryAfter, delayMs, afterMs, lastsMs, html, timestamp, hang, reset, refuseStream, resetStream, goaway, goawayAbrupt, slowBody"
            ),
            (#"[{"provider":"gcm","hang":true}]"#, "faults[0].provider: must be apns, fcm or oauth"),
            (#"[{"hang":true}]"#, "faults[0].provider: must be apns, fcm or oauth"),
            (#"[{"provider":"apns","share":2,"hang":true}]"#, "faults[0].share: must be between 0 and 1"),
            (
                #"[{"provider":"apns","hang":true},{"provider":"apns"}]"#,
                "faults[1]: needs answer, html, delayMs, or one of hang, reset, refuseStream, resetStream, goaway, goawayAbrupt, slowBody"
            ),
            (
                #"[{"provider":"apns","hang":true,"reset":true}]"#,
                "faults[0]: only one of answer, hang and reset; html may stand with answer.status"
            ),
            (#"[{"provider":"apns","answer":{"reason":"x"}}]"#, "faults[0].answer.status: is missing"),
            (
                #"[{"provider":"apns","answer":{"status":503,"resaon":"x"}}]"#,
                "faults[0].answer.resaon: unknown key; known are status, reason, field"
            ),
            (#"[{"provider":"apns","hang":true,"retryAfter":5}]"#, "faults[0].retryAfter: needs an answer too"),
            (#"[{"provider":"apns","hang":"yes"}]"#, "faults[0].hang: must be true or false"),
            (#"[{"provider":"apns","hang":true,"times":0}]"#, "faults[0].times: must be a whole number from 1 to 1000000000"),
            (#"[{"provider":"apns","hang":true,"tokens":[1]}]"#, "faults[0].tokens: must be a list of strings"),
        ]
    )
    func complaints(text: String, message: String) throws {
        let json = try #require(JSONValue(bytes: Array(text.utf8)))
        #expect(throws: ControlError(message)) { try FaultRuleReader.rules(from: json) }
    }

    @Test("scripted tokens are read strictly")
    func tokens() throws {
        let read = try ScriptedTokenReader.token(from: ["dead": true, "since": 1_700_000_000_000, "environment": "production"])
        #expect(read == ScriptedToken(dead: true, since: 1_700_000_000_000, environment: .production))
        #expect(throws: ControlError("token.environment: must be production or sandbox")) {
            try ScriptedTokenReader.token(from: ["environment": "staging"])
        }
        #expect(throws: ControlError("token.ded: unknown key; known are dead, since, environment, topic, project, reason")) {
            try ScriptedTokenReader.token(from: ["ded": true])
        }
    }
}
