package import HTTPServer
package import PushContract
package import ServiceKit

extension DeviceRegistration {
    /// Reads the body of `POST /devices`. Throws 422 with the field's pointer.
    ///
    /// `provider` may be left out: iOS goes through APNs, Android and web through FCM. `environment` is production by default.
    ///
    /// - Parameter defaults: of `platform` and `app`.
    package init(_ value: JSONValue, userId: String, defaults: DeviceDefaults = DeviceDefaults()) throws(Problem) {
        var fields = try JSONFields(value)
        let deviceId = try fields.required("deviceId", DeviceRegistration.deviceId)
        let platform = try fields.value("platform", JSONFields.oneOf(Platform.self), or: defaults.platform)
        let provider = try fields.optional("provider", JSONFields.oneOf(Provider.self)) ?? platform.usualProvider
        guard provider.serves(platform) else {
            throw fields.field("provider").invalid(
                "APNs reaches only ios. Send provider \"fcm\" for \(platform.rawValue), or leave it out."
            )
        }
        let text = try fields.required("pushToken", JSONFields.string(1...4096))
        let token = try DeviceRegistration.issuedToken(text, provider: provider, field: fields.field("pushToken"))
        self.init(
            userId: userId,
            deviceId: deviceId,
            token: token,
            platform: platform,
            provider: provider,
            environment: try fields.optional("environment", JSONFields.oneOf(PushEnvironment.self)) ?? .production,
            app: try fields.value("app", JSONFields.string(1...200), or: defaults.app),
            osVersion: try fields.optional("osVersion", JSONFields.string(1...100)),
            appVersion: try fields.optional("appVersion", JSONFields.string(1...100)),
            locale: try fields.optional("locale", JSONFields.string(2...35))
        )
        try fields.finish()
    }

    private static let reserved = "push-to-start-token"

    /// The two ids are mixed up often enough that each is refused where the other belongs.
    private static func deviceId(_ value: JSONValue, _ field: JSONFields.Field) throws(Problem) -> String {
        let deviceId = try JSONFields.identifier(value, field)
        let isTokenShaped = deviceId.utf8.count >= 64 && deviceId.allSatisfy(\.isHexDigit)
        guard deviceId != reserved else {
            throw field.invalid("The deviceId \"\(reserved)\" is reserved: it is a path under /devices. Use another one.")
        }
        guard !isTokenShaped else {
            throw field.invalid(
                "This looks like an APNs push token. Send the app's own id on this device here, and the token as pushToken."
            )
        }
        return deviceId
    }

    /// Bytes of the tokens that APNs issues: 32 for devices, up to some hundreds for Live Activities.
    private static let tokenBytes = 32...512

    /// A raw token as an app registers it: also of a length that its provider issues.
    package static func issuedToken(_ text: String, provider: Provider, field: JSONFields.Field) throws(Problem) -> PushToken {
        let token = try token(text, provider: provider, field: field)
        guard provider != .apns || tokenBytes.contains(token.rawValue.utf8.count / 2) else {
            throw field.invalid(
                "This is not a push token of apns, which has \(tokenBytes.lowerBound) to \(tokenBytes.upperBound) bytes, two digits each. "
                    + "Send the whole token, as the system passed it to the app."
            )
        }
        return token
    }

    /// A raw token as a caller sends it. The message never repeats it.
    package static func token(_ text: String, provider: Provider, field: JSONFields.Field) throws(Problem) -> PushToken {
        let isUUID = text.utf8.count == 36 && text.split(separator: "-").map(\.count) == [8, 4, 4, 4, 12]
        guard !isUUID else {
            throw field.invalid(
                "This looks like a device id (a UUID), not a push token. Send what the push service handed to the app, and the device id as deviceId."
            )
        }
        guard !text.hasPrefix("sha256:") else {
            throw field.invalid("This is a token's hash. Send the token itself: a hash cannot be sent to.")
        }
        guard !text.hasPrefix(EncryptedToken.prefix) else {
            throw field.invalid("This is not what a push service hands out. Send the token itself, as the app received it.")
        }
        do {
            return try PushToken(text, provider: provider)
        } catch {
            let form = provider == .apns ? "an even number of hexadecimal digits" : "1 to 4096 characters"
            throw field.invalid("This is not a push token of \(provider.rawValue), which has \(form).")
        }
    }
}

extension JSONFields {
    /// A field that is required where there is no default.
    fileprivate mutating func value<Value>(
        _ name: String,
        _ read: @escaping Reader<Value>,
        or standard: Value?
    ) throws(Problem) -> Value {
        guard let standard else { return try required(name, read) }
        return try optional(name, read) ?? standard
    }
}

extension Platform {
    /// The provider of a platform where none is named.
    var usualProvider: Provider { self == .ios ? .apns : .fcm }
}
