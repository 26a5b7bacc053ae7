import ServiceKit

/// Reads the JSON of `PUT /tokens/{token}`.
enum ScriptedTokenReader {
    static func token(from json: JSONValue) throws(ControlError) -> ScriptedToken {
        let object = try StrictObject(json, at: "token")
        try object.allow(["dead", "since", "environment", "topic", "project", "reason"])
        let environment = try object.string("environment")
        if let environment, APNsEnvironment(rawValue: environment) == nil {
            throw ControlError("token.environment: must be production or sandbox")
        }
        let reason = try object.string("reason")
        if let reason, !["Unregistered", "ExpiredToken"].contains(reason) {
            throw ControlError("token.reason: must be Unregistered or ExpiredToken")
        }
        return ScriptedToken(
            dead: try object.bool("dead") ?? false,
            since: try object.integer("since", in: 0...9_007_199_254_740_991),
            environment: environment.flatMap(APNsEnvironment.init(rawValue:)),
            topic: try object.string("topic"),
            project: try object.string("project"),
            reason: reason
        )
    }
}
