import PushContract
import ServiceKit
import Testing

@testable import ProviderSimulator

/// One request that differs from a good one in one way, and the reason Apple has for it; nil: it is fine.
struct APNsCase: Sendable, CustomTestStringConvertible {
    var what: String
    var reason: APNsReason?
    var method = "POST"
    var path = "/3/device/\(deviceToken)"
    /// Replaces headers of the good request; nil removes one.
    var headers: [String: String?] = [:]
    var extra: [SimulatedResponse.Header] = []
    var body = #"{"aps":{"alert":"hi"}}"#

    var testDescription: String { what }
}

@Suite("Checks on APNs requests")
struct APNsRequestChecksTests {
    static let liveActivityTopic: [String: String?] = [
        "apns-push-type": "liveactivity", "apns-topic": "com.example.app.push-type.liveactivity",
    ]
    static let voip: [String: String?] = ["apns-push-type": "voip", "apns-topic": "com.example.app.voip"]

    static let form: [APNsCase] = [
        .init(what: "a good request"),
        .init(what: "another path", reason: .badPath, path: "/3/devices/\(deviceToken)"),
        .init(what: "a longer path", reason: .badPath, path: "/3/device/\(deviceToken)/more"),
        .init(what: "GET", reason: .methodNotAllowed, method: "GET"),
        .init(what: "no token", reason: .missingDeviceToken, path: "/3/device/"),
        .init(what: "path ends before the token", reason: .missingDeviceToken, path: "/3/device"),
        .init(what: "a header twice", reason: .duplicateHeaders, extra: [.init("apns-topic", "com.example.app")]),
        .init(what: "no authorization", reason: .missingProviderToken, headers: ["authorization": nil]),
        .init(what: "basic authorization", reason: .invalidProviderToken, headers: ["authorization": "Basic abcdefg"]),
        .init(what: "an id that is no UUID", reason: .badMessageId, headers: ["apns-id": "42"]),
        .init(what: "a UUID", headers: ["apns-id": "3e1a6f5e-5c62-4b9a-8f5d-0c2f4a3b1d00"]),
        .init(what: "no topic", reason: .missingTopic, headers: ["apns-topic": nil]),
        .init(what: "a topic with a space", reason: .badTopic, headers: ["apns-topic": "com example"]),
        .init(what: "an unknown push type", reason: .invalidPushType, headers: ["apns-push-type": "shout"]),
        .init(what: "no push type", headers: ["apns-push-type": nil]),
        .init(what: "liveactivity without its suffix", reason: .badTopic, headers: ["apns-push-type": "liveactivity"]),
        .init(
            what: "alert with a Live Activity topic",
            reason: .badTopic,
            headers: ["apns-topic": "com.example.app.push-type.liveactivity"]
        ),
        .init(what: "a suffix alone", reason: .badTopic, headers: ["apns-push-type": "voip", "apns-topic": ".voip"]),
        .init(what: "a bundle of another team", reason: .topicDisallowed, headers: ["apns-topic": "com.other.app"]),
        .init(what: "priority 7", reason: .badPriority, headers: ["apns-priority": "7"]),
        .init(what: "priority high", reason: .badPriority, headers: ["apns-priority": "high"]),
        .init(what: "priority 1", headers: ["apns-priority": "1"]),
        .init(what: "expiration in words", reason: .badExpirationDate, headers: ["apns-expiration": "tomorrow"]),
        .init(what: "expiration 0", headers: ["apns-expiration": "0"]),
        .init(what: "expiration below 0", reason: .badExpirationDate, headers: ["apns-expiration": "-1"]),
        .init(what: "collapse id of 64 bytes", headers: ["apns-collapse-id": String(repeating: "é", count: 32)]),
        .init(what: "collapse id of 66 bytes", reason: .badCollapseId, headers: ["apns-collapse-id": String(repeating: "é", count: 33)]),
        .init(what: "a token with a letter past f", reason: .badDeviceToken, path: "/3/device/\(String(repeating: "ag", count: 32))"),
        .init(what: "a short token", reason: .badDeviceToken, path: "/3/device/abcd"),
        .init(what: "a token of odd length", reason: .badDeviceToken, path: "/3/device/\(deviceToken)a"),
        .init(what: "a long token, as Live Activities have", path: "/3/device/\(String(repeating: "0F", count: 80))"),
    ]

    static let payloads: [APNsCase] = [
        .init(what: "no body", reason: .payloadEmpty, body: ""),
        .init(what: "not JSON", reason: .payloadEmpty, body: "{"),
        .init(what: "a list", reason: .payloadEmpty, body: "[]"),
        .init(what: "an empty object, as Wallet uses", body: "{}"),
        .init(what: "4096 bytes", body: filled(4096)),
        .init(what: "4097 bytes", reason: .payloadTooLarge, body: filled(4097)),
        .init(what: "voip, 5120 bytes", headers: voip, body: filled(5120)),
        .init(what: "voip, 5121 bytes", reason: .payloadTooLarge, headers: voip, body: filled(5121)),
        .init(
            what: "background",
            headers: ["apns-push-type": "background", "apns-priority": "5"],
            body: #"{"aps":{"content-available":1}}"#
        ),
        .init(
            what: "background at 10",
            reason: .badPriority,
            headers: ["apns-push-type": "background", "apns-priority": "10"],
            body: #"{"aps":{"content-available":1}}"#
        ),
        .init(
            what: "background without a priority",
            reason: .badPriority,
            headers: ["apns-push-type": "background"],
            body: #"{"aps":{"content-available":1}}"#
        ),
        .init(
            what: "background that shows something",
            reason: .invalidPushType,
            headers: ["apns-push-type": "background", "apns-priority": "5"],
            body: #"{"aps":{"content-available":1,"sound":"x"}}"#
        ),
        .init(
            what: "background with nothing available",
            reason: .invalidPushType,
            headers: ["apns-push-type": "background", "apns-priority": "5"],
            body: #"{"aps":{}}"#
        ),
        .init(what: "activity without event", reason: .invalidPushType, headers: liveActivityTopic, body: #"{"aps":{"timestamp":1}}"#),
        .init(
            what: "activity without timestamp",
            reason: .invalidPushType,
            headers: liveActivityTopic,
            body: #"{"aps":{"event":"update","content-state":{}}}"#
        ),
        .init(
            what: "activity update",
            headers: liveActivityTopic,
            body: #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#
        ),
        .init(
            what: "activity update without state",
            reason: .invalidPushType,
            headers: liveActivityTopic,
            body: #"{"aps":{"timestamp":1,"event":"update"}}"#
        ),
        .init(what: "activity end", headers: liveActivityTopic, body: #"{"aps":{"timestamp":1,"event":"end"}}"#),
        .init(
            what: "activity start",
            headers: liveActivityTopic,
            body: #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{},"alert":{"title":"t"}}}"#
        ),
        .init(
            what: "activity start without alert",
            reason: .invalidPushType,
            headers: liveActivityTopic,
            body: #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{}}}"#
        ),
        .init(
            what: "activity start without attributes",
            reason: .invalidPushType,
            headers: liveActivityTopic,
            body: #"{"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","alert":"a"}}"#
        ),
    ]

    @Test("each rule has its reason", arguments: form + payloads)
    func rule(_ given: APNsCase) throws {
        let key = try credentials().apns
        var headers: [String: String] = [
            "authorization": "bearer \(try providerToken(key))", "apns-topic": "com.example.app", "apns-push-type": "alert",
        ]
        for (name, value) in given.headers { headers[name] = value }
        let request = SimulatedRequest(
            method: given.method,
            path: given.path,
            headers: headers.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) } + given.extra,
            body: Array(given.body.utf8)
        )
        #expect(try refusal(of: request) == given.reason)
    }

    @Test(
        "the provider token is checked",
        arguments: [
            (nil, 60, [:], [:]),
            (nil, 3600, [:], [:]),
            (.expiredProviderToken, 3601, [:], [:]),
            (nil, -60, [:], [:]),
            (.invalidProviderToken, -61, [:], [:]),
            (.invalidProviderToken, 60, ["alg": "HS256"], [:]),
            (.invalidProviderToken, 60, ["kid": "OTHERKEY01"], [:]),
            (.invalidProviderToken, 60, ["kid": .null], [:]),
            (.invalidProviderToken, 60, [:], ["iss": "OTHERTEAM1"]),
            (.invalidProviderToken, 60, [:], ["iat": "1772323200"]),
            (.invalidProviderToken, 60, [:], ["iat": .number(1_772_323_140.5)]),
        ] as [(APNsReason?, Int64, JSONMembers, JSONMembers)]
    )
    func providerTokenRule(reason: APNsReason?, age: Int64, header: JSONMembers, claims: JSONMembers) throws {
        let token = try providerToken(try credentials().apns, age: age, header: header, claims: claims)
        #expect(try refusal(of: good(authorization: "Bearer \(token)")) == reason)
    }

    @Test("a token signed by another key, or cut short, is invalid")
    func foreignSignature() throws {
        let own = try credentials().apns
        let foreign = APNsSigningKey.generate(keyId: own.keyId, teamId: own.teamId)
        #expect(try refusal(of: good(authorization: "bearer \(try providerToken(foreign))")) == .invalidProviderToken)
        let cut = try providerToken(own).dropLast(4)
        #expect(try refusal(of: good(authorization: "bearer \(cut)")) == .invalidProviderToken)
        #expect(try refusal(of: good(authorization: "bearer a.b")) == .invalidProviderToken)
    }

    @Test("an authorization remembered from before still grows old")
    func rememberedAge() throws {
        let remembered = APNsProvider(keyId: "K", teamId: "T", issuedAt: noon.seconds - 4000, bundles: nil)
        #expect(throws: APNsRefusal.self) {
            try checks().check(good(authorization: "bearer x"), remembered: remembered, now: noon)
        }
    }

    @Test(
        "a token's script decides after the form",
        arguments: [
            (ScriptedToken(dead: true, since: 1_700_000_000_123), APNsReason.unregistered, 1_700_000_000_123),
            (ScriptedToken(dead: true), .unregistered, 1_772_323_200_000),
            (ScriptedToken(dead: true, since: 5, reason: "ExpiredToken"), .expiredToken, 5),
            (ScriptedToken(environment: .production), .badDeviceToken, nil),
            (ScriptedToken(topic: "com.example.other"), .deviceTokenNotForTopic, nil),
        ] as [(ScriptedToken, APNsReason, Int64?)]
    )
    func script(script: ScriptedToken, reason: APNsReason, timestamp: Int64?) throws {
        let notification = try checks().check(good(authorization: "bearer \(try providerToken(try credentials().apns))"), now: noon)
        let error = #expect(throws: APNsRefusal.self) {
            try APNsTokenChecks.check(notification, script: script, environment: .sandbox, now: noon)
        }
        #expect(error?.reason == reason)
        #expect(error?.timestamp == timestamp)
    }

    @Test("every reason has the status Apple documents")
    func statuses() {
        let by = Dictionary(grouping: APNsReason.allCases, by: \.status).mapValues { Set($0.map(\.rawValue)) }
        #expect(by[403] == ["ExpiredProviderToken", "InvalidProviderToken", "MissingProviderToken", "TopicMismatch"])
        #expect(by[404] == ["BadPath"])
        #expect(by[405] == ["MethodNotAllowed"])
        #expect(by[410] == ["Unregistered", "ExpiredToken"])
        #expect(by[429] == ["TooManyProviderTokenUpdates"])
        #expect(by[413] == ["PayloadTooLarge"])
        #expect(by[400]?.count == 18)
    }

    private func checks() throws -> APNsRequestChecks {
        let key = try credentials().apns.trusted(bundles: ["com.example.app"])
        return APNsRequestChecks(authorization: APNsAuthorization(keys: [key]))
    }

    private func refusal(of request: SimulatedRequest) throws -> APNsReason? {
        do {
            _ = try checks().check(request, now: noon)
            return nil
        } catch let refusal as APNsRefusal {
            return refusal.reason
        }
    }

    private func good(authorization: String) -> SimulatedRequest {
        SimulatedRequest(
            path: "/3/device/\(deviceToken)",
            headers: [.init("authorization", authorization), .init("apns-topic", "com.example.app")],
            body: Array(#"{"aps":{"alert":"hi"}}"#.utf8)
        )
    }

    /// A JSON object of exactly so many bytes.
    private static func filled(_ bytes: Int) -> String {
        #"{"a":""# + String(repeating: "x", count: bytes - 8) + #""}"#
    }
}
