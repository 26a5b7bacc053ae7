import HTTPServer
import Providers
import PushContract
import ServiceKit

/// The bodies of `POST /live-activities/{attributesType}/start`, `/update` and `/end`, checked against the type's schemas.
struct CustomStart: Sendable {
    var activityId: String
    var uid: String?
    var deviceId: String?
    var state: SubjectState

    init(_ body: JSONValue, type: AttributesType, now: Timestamp) throws(Problem) {
        var fields = try JSONFields(body)
        activityId = try fields.required("activityId", SubjectName.id)
        uid = try fields.optional("uid", JSONFields.string(1...256))
        deviceId = try fields.optional("deviceId", JSONFields.identifier)
        guard uid != nil || deviceId != nil else {
            throw .invalid("Say who it is for: \"uid\", \"deviceId\", or both.", code: "missing_field", pointer: "/uid")
        }
        let attributes = try type.checkedAttributes(try fields.required("attributes") { value, _ in value }, activityId: activityId)
        let state = try fields.required("contentState") { value, _ in value }
        try type.contentState.check(state, at: "/contentState")
        guard let alert = try CustomActivity.alert(&fields) else {
            throw .invalid(
                "The start of a Live Activity needs \"alert\" with a title and a body: the person sees it.",
                code: "missing_field",
                pointer: "/alert"
            )
        }
        self.state = SubjectState(
            attributes: attributes.text,
            contentState: state.text,
            startAlert: alert,
            staleAt: try fields.optional("staleAt", CustomActivity.later(now)),
            relevanceScore: try fields.optional("relevanceScore", CustomActivity.relevance)
        )
        try fields.finish()
    }
}

struct CustomUpdate: Sendable {
    var activityId: String
    var contentState: String
    var alert: LiveSubject.Alert?
    var isCritical: Bool
    var staleAt: Timestamp?
    /// Nil: as before.
    var relevanceScore: Double?

    init(_ body: JSONValue, type: AttributesType, now: Timestamp) throws(Problem) {
        var fields = try JSONFields(body)
        let activityId = try fields.required("activityId", SubjectName.id)
        try self.init(&fields, activityId: activityId, type: type, now: now)
        try fields.finish()
    }

    /// The members that a `PUT` has as well.
    init(_ fields: inout JSONFields, activityId: String, type: AttributesType, now: Timestamp) throws(Problem) {
        self.activityId = activityId
        let state = try fields.required("contentState") { value, _ in value }
        try type.contentState.check(state, at: "/contentState")
        contentState = state.text
        alert = try CustomActivity.alert(&fields)
        isCritical = try fields.optional("critical", JSONFields.bool) ?? false
        staleAt = try fields.optional("staleAt", CustomActivity.later(now))
        relevanceScore = try fields.optional("relevanceScore", CustomActivity.relevance)
    }
}

struct CustomEnd: Sendable {
    var activityId: String
    var contentState: String?
    var alert: LiveSubject.Alert?
    var dismissAt: Timestamp?

    init(_ body: JSONValue, type: AttributesType, now: Timestamp) throws(Problem) {
        var fields = try JSONFields(body)
        activityId = try fields.required("activityId", SubjectName.id)
        if let state = fields.optional("contentState") {
            try type.contentState.check(state, at: "/contentState")
            contentState = state.text
        }
        alert = try CustomActivity.alert(&fields)
        dismissAt = try fields.optional("dismissAt", CustomActivity.dismissal(now))
        try fields.finish()
    }

    init(activityId: String, contentState: String? = nil, alert: LiveSubject.Alert? = nil, dismissAt: Timestamp? = nil) {
        self.activityId = activityId
        self.contentState = contentState
        self.alert = alert
        self.dismissAt = dismissAt
    }
}

enum CustomActivity {
    static func alert(_ fields: inout JSONFields, _ name: String = "alert") throws(Problem) -> LiveSubject.Alert? {
        guard let value = fields.optional(name) else { return nil }
        var members = try JSONFields(value, at: "/\(name)")
        var alert = LiveSubject.Alert(
            title: try members.required("title", JSONFields.text(1...200)),
            body: try members.required("body", JSONFields.text(1...500))
        )
        let sound = try members.optional("sound", JSONFields.string(1...100)) ?? "default"
        alert.sound = sound == "none" ? nil : sound
        alert.interruptionLevel = try members.optional("interruptionLevel", JSONFields.oneOf(LiveSubject.InterruptionLevel.self))
        try members.finish()
        return alert
    }

    static func moment(_ value: JSONValue, _ field: JSONFields.Field) throws(Problem) -> Timestamp {
        guard case .string(let text) = value, let moment = Timestamp(rfc3339: text) else {
            throw field.invalid("\"\(field.name)\" is a moment such as 2026-11-21T12:00:00Z.")
        }
        return moment
    }

    static var relevance: JSONFields.Reader<Double> { JSONFields.number(-1_000_000...1_000_000) }

    static func later(_ now: Timestamp) -> JSONFields.Reader<Timestamp> {
        { value, field throws(Problem) in
            let moment = try moment(value, field)
            guard moment.seconds > now.seconds else {
                throw field.invalid("\"\(field.name)\" is in the future: from then on the state is shown as out of date.")
            }
            return moment
        }
    }

    /// The system takes an ended activity away after four hours, whatever a push says.
    static func dismissal(_ now: Timestamp) -> JSONFields.Reader<Timestamp> {
        { value, field throws(Problem) in
            let moment = try moment(value, field)
            guard moment <= now + longestDismissal else {
                throw field.invalid("\"\(field.name)\" is at most four hours from now; the system takes the activity away then.")
            }
            return moment
        }
    }

    private static let longestDismissal = Duration.seconds(4 * 3600)

    /// Refuses what could never be sent, with the member to shorten.
    static func checkSize(_ subject: LiveSubject, alert: LiveSubject.Alert? = nil, now: Timestamp) throws(Problem) {
        do throws(PushError) {
            _ = try LivePayloads.start(subject, instance: 1, now: now)
            _ = try LivePayloads.update(subject, alert: alert ?? subject.startAlert)
        } catch {
            throw .invalid(
                error.message,
                code: error.code == "PayloadTooLarge" ? "payload_too_large" : "invalid",
                pointer: "/\(error.field)"
            )
        }
    }
}
