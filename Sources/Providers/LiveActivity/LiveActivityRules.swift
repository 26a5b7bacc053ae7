import PushContract
import ServiceKit

/// Checks a Live Activity push for what Apple refuses, drops or ignores, before it is sent.
enum LiveActivityRules {
    /// How long an ended activity may stay on the Lock Screen.
    static let longestDismissal = Duration.seconds(4 * 3600)

    static func check(_ push: LiveActivityPush) throws(PushError) {
        if push.priority == .low {
            throw PushError(field: "priority", code: "BadPriority", "A Live Activity push takes priority high or normal.")
        }
        guard push.timestamp.seconds > 0 else {
            throw fault("timestamp", "\"timestamp\" must be the moment of this state, in seconds since 1970.")
        }
        try checkState(push)
        try checkEvent(push)
        if let staleDate = push.staleDate, staleDate.seconds <= push.timestamp.seconds {
            throw fault("staleDate", "\"staleDate\" must be later than \"timestamp\", or the state is out of date when it is shown.")
        }
        if let score = push.relevanceScore, !score.isFinite {
            throw fault("relevanceScore", "\"relevanceScore\" must be a finite number.")
        }
    }

    private static func checkState(_ push: LiveActivityPush) throws(PushError) {
        guard let state = push.contentState else {
            if case .end = push.event { return }
            throw fault("contentState", "The \(push.event.name) of a Live Activity needs \"contentState\".")
        }
        try checkObject(state, "contentState")
    }

    private static func checkEvent(_ push: LiveActivityPush) throws(PushError) {
        switch push.event {
        case .start(let start): try check(start, of: push)
        case .update: return
        case .end(let dismissal):
            guard let dismissal, dismissal > push.timestamp + longestDismissal else { return }
            throw fault("dismissalDate", "\"dismissalDate\" may be four hours after \"timestamp\" at most; the system takes it away then.")
        }
    }

    private static func check(_ start: LiveActivityPush.Start, of push: LiveActivityPush) throws(PushError) {
        guard !start.attributesType.isEmpty else {
            throw fault(
                "attributesType",
                "The start of a Live Activity needs \"attributesType\", the name of the app's ActivityAttributes."
            )
        }
        try checkObject(start.attributes, "attributes")
        guard push.alert?.hasText == true else {
            throw fault("alert", "The start of a Live Activity needs \"alert\" with a title or a body: the system alerts the person.")
        }
        if case .channel("") = start.input {
            throw PushError(field: "inputPushChannel", code: "BadChannelId", "\"inputPushChannel\" must be the id of a broadcast channel.")
        }
        if let expiresAt = push.expiresAt, expiresAt <= push.timestamp {
            throw PushError(
                field: "expiresAt",
                code: "BadExpirationDate",
                "A start that expires at once is lost by any device offline for a moment; give it some minutes."
            )
        }
    }

    private static func checkObject(_ bytes: [UInt8], _ field: String) throws(PushError) {
        guard let json = try? JSONParser.read(bytes), json.members != nil else {
            throw fault(field, "\"\(field)\" must be one JSON object in UTF-8.")
        }
    }

    private static func fault(_ field: String, _ message: String) -> PushError {
        PushError(field: field, code: "InvalidPushType", message)
    }
}
