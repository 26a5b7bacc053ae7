import Crypto
package import HTTPServer
import Providers
package import PushContract
package import ServiceKit

extension SendRequest {
    /// How long a send is tried when the caller does not say.
    private static let usualLifetime = Duration.seconds(24 * 3600)
    /// The same of calls and of push to talk, which mean nothing later (Apple asks for 0 or a few seconds). Time for a retry.
    private static let callLifetime = Duration.seconds(30)
    /// What our own paths have in the place of a sendId.
    static let reservedIds: Set<String> = [
        "backlog", "throttle", "circuits", "pauses", "deactivation-limiters", "dead", "outcomes", "webhooks",
    ]
    /// APNs stores for at most 30 days; FCM 28.
    static let longestLifetime = Duration.seconds(28 * 24 * 3600)

    /// Reads one element of the body of `POST /sends`. Throws 422 with the field's pointer.
    package convenience init(_ value: JSONValue, at pointer: String = "", now: Timestamp) throws(Problem) {
        var fields = try JSONFields(value, at: pointer)
        let sendId = try fields.optional("sendId", JSONFields.identifier)
        let target = try SendRequest.target(&fields)
        let content = try SendContent(&fields)
        let deliveryClass = try SendRequest.deliveryClass(&fields)
        let policy = try fields.optional("policy", JSONFields.oneOf(DeliveryPolicy.self)) ?? .atLeastOnce
        let version = try fields.optional("version", JSONFields.integer(0...Int64.max))
        let notBefore = try fields.optional("notBefore", JSONFields.timestamp)
        let expiresAt = try fields.optional("expiresAt", JSONFields.timestamp)
        let validateOnly = try fields.optional("validateOnly", JSONFields.bool) ?? false
        try fields.finish()
        guard !validateOnly || pointer.isEmpty && target.isOne else {
            throw fields.field("validateOnly").invalid(
                "\"validateOnly\" goes with one send to one target: \"uid\", \"deviceId\" or \"token\". Send it alone."
            )
        }
        if let sendId, SendRequest.reservedIds.contains(sendId) {
            throw fields.field("sendId").invalid("The sendId \"\(sendId)\" is reserved: it is a path under /sends. Use another one.")
        }
        if let sendId, let own = OwnSends.allCases.first(where: { sendId.hasPrefix($0.prefix) }) {
            throw fields.field("sendId").invalid(
                "sendIds that begin with \"\(own.prefix)\" are reserved for Pushwatch's own sends. Use another one."
            )
        }
        guard version == nil || content.collapseId != nil else {
            throw fields.field("version").invalid("\"version\" orders sends with the same \"collapseId\". Add a collapseId, or remove it.")
        }
        let start = max(notBefore ?? now, now)
        let end = expiresAt ?? start + SendRequest.lifetime(content)
        guard end > start else {
            throw fields.field("expiresAt").invalid(
                "\"expiresAt\" must be in the future and after \"notBefore\"; this send could never be attempted."
            )
        }
        guard end <= now + SendRequest.longestLifetime else {
            throw fields.field("expiresAt").invalid("\"expiresAt\" must be at most 28 days from now: no provider keeps a push for longer.")
        }
        self.init(
            sendId: sendId ?? ULID.make(at: now),
            target: target,
            content: content,
            deliveryClass: deliveryClass,
            policy: policy,
            version: version,
            notBefore: notBefore,
            expiresAt: end,
            validateOnly: validateOnly,
            contentHash: SendRequest.hash(of: value),
            pointer: pointer
        )
    }

    private static func lifetime(_ content: SendContent) -> Duration {
        switch content.pushType.flatMap({ APNsPushType(rawValue: $0) }) {
        case .voip, .pushtotalk: callLifetime
        default: usualLifetime
        }
    }

    /// `critical: true` is short for `class: critical`; `critical: false` says nothing.
    private static func deliveryClass(_ fields: inout JSONFields) throws(Problem) -> DeliveryClass? {
        let named = try fields.optional("class", JSONFields.oneOf(DeliveryClass.self))
        guard try fields.optional("critical", JSONFields.bool) == true else { return named }
        guard named == nil || named == .critical else {
            throw fields.field("critical").invalid("\"critical\": true contradicts \"class\". Remove one of them.")
        }
        return .critical
    }

    private static func deviceHasApp(_ fields: JSONFields) -> Problem {
        .invalid(
            "A registered device belongs to one app. Remove \"app\", or send to \"uid\" with \"app\".",
            code: "unknown_field",
            pointer: fields.field("app").pointer
        )
    }

    /// Targets in one list at most; more are an audience.
    static let listLimit = 10_000

    private static func target(_ fields: inout JSONFields) throws(Problem) -> Target {
        let uid = try fields.optional("uid", JSONFields.string(1...256))
        let deviceId = try fields.optional("deviceId", JSONFields.identifier)
        let token = try fields.optional("token", JSONFields.string(1...4096))
        let app = try fields.optional("app", JSONFields.string(1...200))
        guard app == nil || deviceId == nil || token != nil else { throw SendRequest.deviceHasApp(fields) }
        if let many = try manyTargets(&fields, app: app) {
            guard uid == nil, deviceId == nil, token == nil else {
                throw .invalid("A send goes to one target, one list or one audience. Remove the others.", pointer: fields.pointer)
            }
            return many
        }
        if let token {
            guard deviceId == nil else { throw fields.field("token").invalid("Send either \"deviceId\" or \"token\", not both.") }
            return try tokenTarget(token, uid: uid, app: app, &fields)
        }
        if let deviceId { return .device(deviceId, uid: uid) }
        if let uid { return .user(uid, app: app) }
        throw .invalid(
            "Say whom to send to: \"uid\" (all devices of a user), \"deviceId\", \"token\" with \"provider\" and \"app\", a list (\"uids\", "
                + "\"deviceIds\", \"tokens\"), or a stored \"audience\".",
            code: "missing_target",
            pointer: fields.pointer
        )
    }

    private static func manyTargets(_ fields: inout JSONFields, app: String?) throws(Problem) -> Target? {
        let uids = try fields.optional("uids", JSONFields.list(of: JSONFields.string(1...256), 1...listLimit))
        let deviceIds = try fields.optional("deviceIds", JSONFields.list(of: JSONFields.identifier, 1...listLimit))
        let tokens = try fields.optional("tokens", JSONFields.list(of: JSONFields.string(1...4096), 1...listLimit))
        let audience = try fields.optional("audience", JSONFields.identifier)
        guard [uids != nil, deviceIds != nil, tokens != nil, audience != nil].count(where: { $0 }) <= 1 else {
            throw .invalid("Send either \"uids\", \"deviceIds\", \"tokens\" or \"audience\", not several.", pointer: fields.pointer)
        }
        if let uids { return .users(uids, app: app) }
        if let deviceIds {
            guard app == nil else { throw SendRequest.deviceHasApp(fields) }
            return .devices(deviceIds)
        }
        if let audience { return .audience(audience, app: app) }
        guard let tokens else { return nil }
        let route = try tokenRoute(app: app, &fields)
        let read = JSONFields.list(
            of: { value, field throws(Problem) in
                try DeviceRegistration.token(try JSONFields.string(1...4096)(value, field), provider: route.provider, field: field)
            },
            1...listLimit
        )
        let parsed = try read(.array(tokens.map(JSONValue.string)), fields.field("tokens"))
        return .tokens(parsed, platform: route.platform, provider: route.provider, environment: route.environment, app: route.app)
    }

    private static func tokenTarget(_ text: String, uid: String?, app: String?, _ fields: inout JSONFields) throws(Problem) -> Target {
        let route = try tokenRoute(app: app, &fields)
        let token = try DeviceRegistration.token(text, provider: route.provider, field: fields.field("token"))
        return .token(token, uid: uid, platform: route.platform, provider: route.provider, environment: route.environment, app: route.app)
    }

    /// What goes with bare tokens.
    private static func tokenRoute(
        app: String?,
        _ fields: inout JSONFields
    ) throws(Problem) -> (platform: Platform, provider: Provider, environment: PushEnvironment, app: String) {
        let provider = try fields.required("provider", JSONFields.oneOf(Provider.self))
        let platform = try fields.optional("platform", JSONFields.oneOf(Platform.self)) ?? (provider == .apns ? .ios : .android)
        let environment = try fields.optional("environment", JSONFields.oneOf(PushEnvironment.self)) ?? .production
        guard provider.serves(platform) else {
            throw fields.field("platform").invalid("APNs reaches only ios. Send platform \"ios\", or provider \"fcm\".")
        }
        guard let app else {
            throw .invalid(
                "Add the field \"app\": the app the token belongs to.",
                code: "missing_field",
                pointer: fields.field("app").pointer
            )
        }
        return (platform, provider, environment, app)
    }

    /// Of what the send is: a field that is null is absent.
    static func hash(of value: JSONValue) -> [UInt8] {
        SHA256.hash(data: value.bytes(without: ["sendId", "validateOnly"], keepsNull: false)).prefix(16).map(\.self)
    }
}

extension SendRequest.Target {
    /// A user, a device or a token.
    var isOne: Bool {
        switch self {
        case .user, .device, .token: true
        case .users, .audience, .selected, .devices, .tokens: false
        }
    }
}

extension JSONFields {
    /// An RFC 3339 date-time with an offset.
    static func timestamp(_ value: JSONValue, _ field: Field) throws(Problem) -> Timestamp {
        guard case .string(let text) = value, let timestamp = Timestamp(rfc3339: text) else {
            throw field.invalid("\"\(field.name)\" is an RFC 3339 date-time with an offset, such as 2026-02-12T09:30:00Z.")
        }
        return timestamp
    }
}
