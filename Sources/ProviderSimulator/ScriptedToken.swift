/// What `PUT /tokens/{token}` set for one token. Tokens without a script are valid for every topic.
package struct ScriptedToken: Sendable, Hashable, Codable {
    /// APNs answers 410, FCM answers UNREGISTERED.
    package var dead: Bool
    /// Since when it is dead, in milliseconds since 1970; nil: the moment of the answer.
    package var since: Int64?
    /// The APNs environment it belongs to; in the other one it is a BadDeviceToken.
    package var environment: APNsEnvironment?
    /// The APNs topic or bundle it belongs to; with another it is a DeviceTokenNotForTopic.
    package var topic: String?
    /// The FCM project it belongs to; from another it is a SENDER_ID_MISMATCH.
    package var project: String?
    /// `Unregistered` (default) or `ExpiredToken` for a dead APNs token.
    package var reason: String?

    package init(
        dead: Bool = false,
        since: Int64? = nil,
        environment: APNsEnvironment? = nil,
        topic: String? = nil,
        project: String? = nil,
        reason: String? = nil
    ) {
        self.dead = dead
        self.since = since
        self.environment = environment
        self.topic = topic
        self.project = project
        self.reason = reason
    }
}
