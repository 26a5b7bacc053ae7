import HTTPServer
import Postgres
import PushContract
import ServiceKit

/// What a new subject begins with.
struct SubjectState: Sendable, Hashable {
    /// One JSON object, with `activityId` and `instance` where the type has them.
    var attributes: String
    var contentState: String
    var startAlert: LiveSubject.Alert
    var staleAt: Timestamp?
    var relevanceScore: Double?
    /// The caller's number of the state.
    var sequence: Int64?
    /// Nil: as its type says.
    var freshFor: Duration?
}

/// The body of `PUT /live/{type}/{id}`, checked against the type's schemas.
struct SubjectPut: Sendable {
    /// Nil: as before.
    var attributes: String?
    /// Nil: as before.
    var startAlert: LiveSubject.Alert?
    var sequence: Int64?
    /// Nil: as before; at first as its type says.
    var freshFor: Duration?
    /// The subject is over with this state.
    var isFinal: Bool
    var dismissAt: Timestamp?
    var update: CustomUpdate

    init(_ body: JSONValue, id: String, type: AttributesType, now: Timestamp) throws(Problem) {
        var fields = try JSONFields(body)
        if let attributes = fields.optional("attributes") {
            self.attributes = try type.checkedAttributes(attributes, activityId: id).text
        }
        startAlert = try CustomActivity.alert(&fields, "startAlert")
        sequence = try fields.optional("sequence", JSONFields.integer(0...Int64.max))
        freshFor = try fields.optional("freshFor", JSONFields.integer(AttributesType.freshForSeconds)).map { .seconds($0) }
        isFinal = try fields.optional("final", JSONFields.bool) ?? false
        dismissAt = try fields.optional("dismissAt", CustomActivity.dismissal(now))
        if dismissAt != nil, !isFinal {
            throw .invalid("\"dismissAt\" belongs to the last state: send \"final\": true with it.", pointer: "/dismissAt")
        }
        update = try CustomUpdate(&fields, activityId: id, type: type, now: now)
        try fields.finish()
    }

    /// What a subject begins with that there is not yet.
    func first() throws(Problem) -> SubjectState {
        guard !isFinal else { throw Problem.notFound("There is no such subject to end.") }
        guard let attributes else {
            throw .invalid("Add \"attributes\": this is the subject's first state.", code: "missing_field", pointer: "/attributes")
        }
        guard let startAlert else {
            throw .invalid(
                "Add \"startAlert\" with a title and a body: the start of a Live Activity needs an alert, and the person sees it.",
                code: "missing_field",
                pointer: "/startAlert"
            )
        }
        return SubjectState(
            attributes: attributes,
            contentState: update.contentState,
            startAlert: startAlert,
            staleAt: update.staleAt,
            relevanceScore: update.relevanceScore,
            sequence: sequence,
            freshFor: freshFor
        )
    }

    enum Verdict: Sendable {
        /// - Parameter isSame: it is the known state with its number.
        case stale(isSame: Bool)
        case unchanged, update
        case end(CustomEnd)

        /// Whether it says that the known state is still the newest, as a source does that has no news.
        var confirms: Bool {
            switch self {
            case .stale(let isSame): isSame
            case .unchanged: true
            case .update, .end: false
            }
        }
    }

    /// What this state means for the one that is stored. Pure. Throws for what contradicts it.
    func verdict(on stored: StoredState) throws(Problem) -> Verdict {
        if let attributes, attributes != stored.attributes {
            throw .conflict(
                "The attributes of a subject do not change: activities that run would keep the old ones. Use another id.",
                code: "attributes_differ",
                pointer: "/attributes"
            )
        }
        let isSame = CustomQueries.hash(update.contentState) == stored.hash
        if let sequence, let known = stored.sequence, sequence <= known { return .stale(isSame: isSame && sequence == known) }
        if stored.isOver {
            guard isFinal, isSame else {
                throw .conflict("This subject has ended. Use another id.", code: "subject_ended", pointer: nil)
            }
            return .unchanged
        }
        if isFinal {
            return .end(
                CustomEnd(activityId: update.activityId, contentState: update.contentState, alert: update.alert, dismissAt: dismissAt)
            )
        }
        // A state with a number of its own is no repetition, and its alert is another one.
        let alertsAgain = update.alert != nil && (sequence != nil || update.alert != stored.lastAlert)
        let isLevel = (startAlert == nil || startAlert == stored.startAlert) && (freshFor == nil || freshFor == stored.freshFor)
        return stored.hasState(of: update) && !alertsAgain && isLevel ? .unchanged : .update
    }
}

/// The state of a subject as it is stored, as far as a new one is compared with it.
struct StoredState: Sendable {
    var attributes: String
    var hash: String
    var sequence: Int64?
    var staleAt: Timestamp?
    var relevanceScore: Double?
    var isOver: Bool
    var freshFor: Duration?
    var startAlert: LiveSubject.Alert?
    /// That was taken in last, for as long as anybody is alerted of it.
    var lastAlert: LiveSubject.Alert?

    func hasState(of update: CustomUpdate) -> Bool {
        hash == CustomQueries.hash(update.contentState) && staleAt == update.staleAt
            && (update.relevanceScore == nil || update.relevanceScore == relevanceScore)
    }

    /// Whether it is the last alert again, with its state: a request that was sent twice.
    func isRepeated(by update: CustomUpdate) -> Bool {
        !isOver && update.alert != nil && update.alert == lastAlert && hasState(of: update)
    }
}

extension StoredState {
    init(_ row: Row) throws {
        let values = try row.decode(
            (String, String, Int64?, Timestamp?, Double?, Bool, Int32?, String, String, String?, String?).self
        )
        self.init(
            attributes: values.0,
            hash: values.1,
            sequence: values.2,
            staleAt: values.3,
            relevanceScore: values.4,
            isOver: values.5,
            freshFor: values.6.map { .seconds(Int64($0)) },
            startAlert: LiveSubject.Alert(title: values.7, body: values.8, sound: values.9, level: values.10)
        )
    }
}
