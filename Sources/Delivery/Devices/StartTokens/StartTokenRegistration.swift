package import HTTPServer
import PushContract
package import ServiceKit

/// What an app reports about its push-to-start token, checked as far as it can be without the database.
package struct StartTokenRegistration: Sendable {
    package var userId: String
    /// Nil: the user's only iOS device.
    package var deviceId: String?
    /// Nil: the app explicitly has none any more.
    package var token: PushToken?
    /// The name of the `ActivityAttributes` struct it is of; nil: the app has one type, or does not name it.
    package var attributesType: String?
    package var osVersion: String?
    package var appVersion: String?
    package var form: Form

    package init(
        userId: String,
        deviceId: String?,
        token: PushToken?,
        attributesType: String? = nil,
        osVersion: String? = nil,
        appVersion: String? = nil,
        form: Form = .devices
    ) {
        self.form = form
        self.userId = userId
        self.attributesType = attributesType
        self.deviceId = deviceId
        self.token = token
        self.osVersion = osVersion
        self.appVersion = appVersion
    }

    /// Which spelling of the call it is.
    package enum Form: Sendable {
        /// `POST /devices/push-to-start-token`.
        case devices
        /// `/api/users/live-activity-token`: the deviceId may be left out.
        case alias

        var tokenField: String { self == .devices ? "pushToStartToken" : "liveActivityToken" }
        var tokenPointer: String { "/" + tokenField }
    }

    /// Reads the body. The token has to be there: absent is a mistake, `null` clears (an app that was woken in the background has posted
    /// "none yet" over a good token before).
    package init(_ value: JSONValue, userId: String, form: Form) throws(Problem) {
        let name = form.tokenField
        self.form = form
        var isNull = false
        if case .object(let members) = value, members[name] == .null { isNull = true }
        var fields = try JSONFields(value)
        self.userId = userId
        switch form {
        case .devices: deviceId = try fields.required("deviceId", JSONFields.identifier)
        case .alias: deviceId = try fields.optional("deviceId", JSONFields.identifier)
        }
        let text = try fields.optional(name, JSONFields.string(1...4096))
        attributesType = try fields.optional("attributesType", StartTokenRegistration.typeName)
        osVersion = try fields.optional("osVersion", JSONFields.string(1...100))
        appVersion = try fields.optional("appVersion", JSONFields.string(1...100))
        try fields.finish()
        guard text != nil || isNull else {
            throw .invalid(
                "Add the field \"\(name)\": the token, or null if the app has none any more. Leave out the call while it has none yet.",
                code: "missing_field",
                pointer: fields.field(name).pointer
            )
        }
        if let text { token = try DeviceRegistration.issuedToken(text, provider: .apns, field: fields.field(name)) }
    }

    /// As Swift spells a type; also one that is not registered here, since a schema may come later than the app.
    private static func typeName(_ value: JSONValue, _ field: JSONFields.Field) throws(Problem) -> String {
        guard case .string(let name) = value, (1...64).contains(name.utf8.count),
            name.unicodeScalars.first?.properties.isAlphabetic == true,
            name.unicodeScalars.allSatisfy({ $0.isASCII && ($0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_") })
        else {
            throw field.invalid("\"\(field.name)\" is the name of the ActivityAttributes struct, such as MatchActivityAttributes.")
        }
        return name
    }
}
