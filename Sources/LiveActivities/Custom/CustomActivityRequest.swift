import HTTPServer
import Providers
import PushContract
import ServiceKit

/// The bodies of `POST /live-activities/{attributesType}/start`, `/update` and `/end`, checked against the type's schemas.
struct CustomStart: Sendable {
    var activityId: String
    var uid: String?
    var deviceId: String?
    var attributes: String
    var contentState: String
    var alert: LiveSubject.Alert

    init(_ body: JSONValue, type: AttributesType) throws(Problem) {
        var fields = try JSONFields(body)
        activityId = try fields.required("activityId", SubjectName.id)
        uid = try fields.optional("uid", JSONFields.string(1...256))
        deviceId = try fields.optional("deviceId", JSONFields.identifier)
        guard uid != nil || deviceId != nil else {
            throw .invalid("Say who it is for: \"uid\", \"deviceId\", or both.", code: "missing_field", pointer: "/uid")
        }
        let attributes = try fields.required("attributes") { value, _ in value }
        try type.attributes.check(attributes, at: "/attributes")
        let state = try fields.required("contentState") { value, _ in value }
        try type.contentState.check(state, at: "/contentState")
        guard let alert = try CustomActivity.alert(&fields) else {
            throw .invalid(
                "The start of a Live Activity needs \"alert\" with a title and a body: the person sees it.",
                code: "missing_field",
                pointer: "/alert"
            )
        }
        self.alert = alert
        self.attributes = attributes.text
        contentState = state.text
        try fields.finish()
    }
}

struct CustomUpdate: Sendable {
    var activityId: String
    var contentState: String
    var alert: LiveSubject.Alert?
    var isCritical: Bool

    init(_ body: JSONValue, type: AttributesType) throws(Problem) {
        var fields = try JSONFields(body)
        activityId = try fields.required("activityId", SubjectName.id)
        let state = try fields.required("contentState") { value, _ in value }
        try type.contentState.check(state, at: "/contentState")
        contentState = state.text
        alert = try CustomActivity.alert(&fields)
        isCritical = try fields.optional("critical", JSONFields.bool) ?? false
        try fields.finish()
    }
}

struct CustomEnd: Sendable {
    var activityId: String
    var contentState: String?
    var dismissAt: Timestamp?

    init(_ body: JSONValue, type: AttributesType) throws(Problem) {
        var fields = try JSONFields(body)
        activityId = try fields.required("activityId", SubjectName.id)
        if let state = fields.optional("contentState") {
            try type.contentState.check(state, at: "/contentState")
            contentState = state.text
        }
        dismissAt = try fields.optional("dismissAt", CustomActivity.moment)
        try fields.finish()
    }
}

enum CustomActivity {
    static func alert(_ fields: inout JSONFields) throws(Problem) -> LiveSubject.Alert? {
        guard let value = fields.optional("alert") else { return nil }
        var members = try JSONFields(value, at: "/alert")
        let alert = LiveSubject.Alert(
            title: try members.required("title", JSONFields.text(1...200)),
            body: try members.required("body", JSONFields.text(1...500))
        )
        try members.finish()
        return alert
    }

    static func moment(_ value: JSONValue, _ field: JSONFields.Field) throws(Problem) -> Timestamp {
        guard case .string(let text) = value, let moment = Timestamp(rfc3339: text) else {
            throw field.invalid("\"\(field.name)\" is a moment such as 2026-11-21T12:00:00Z.")
        }
        return moment
    }

    /// Refuses what could never be sent, with the member to shorten.
    static func checkSize(_ subject: LiveSubject, alert: LiveSubject.Alert? = nil, now: Timestamp) throws(Problem) {
        do throws(PushError) {
            _ = try LivePayloads.start(subject, instance: 1, now: now)
            _ = try LivePayloads.update(subject, alert: alert ?? subject.startAlert, now: now)
        } catch {
            throw .invalid(
                error.message,
                code: error.code == "PayloadTooLarge" ? "payload_too_large" : "invalid",
                pointer: "/\(error.field)"
            )
        }
    }
}
