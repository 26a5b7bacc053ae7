/// The example of an attributes type that is not a match: a pager that shows one message at a time.
///
/// App, widget extension and server share this one definition; in the app add `extension PagerActivityAttributes: ActivityAttributes {}`.
/// Its name is the `attributes-type` of a start. Source: the pager's token-flow requirements, 4.2 to 5.4.
public struct PagerActivityAttributes: Sendable, Hashable, Codable {
    /// The dynamic part: the `content-state` of every push. A default `JSONDecoder` reads it.
    public struct ContentState: Sendable, Hashable, Codable {
        /// Who sent the message.
        public var sender: String
        /// Its text.
        public var message: String
        /// When it was sent, Unix seconds. Not a `Date`: ActivityKit would count it from 2001.
        public var timestamp: Int
        /// True for sample messages.
        public var isDemo: Bool
        /// The message's position among the pending ones, from 0.
        public var messageIndex: Int
        /// The number of pending messages, at least 1.
        public var totalMessages: Int

        /// Makes a state.
        public init(sender: String, message: String, timestamp: Int, isDemo: Bool, messageIndex: Int, totalMessages: Int) {
            self.sender = sender
            self.message = message
            self.timestamp = timestamp
            self.isDemo = isDemo
            self.messageIndex = messageIndex
            self.totalMessages = totalMessages
        }
    }

    /// The owner of the pager.
    public var recipient: String
    /// By which the app names the activity when it posts its update token. Filled in by the server.
    public var activityId: String?
    /// The number of the server's start, to be sent with the token. Filled in by the server.
    public var instance: Int?

    /// Makes the static part.
    public init(recipient: String, activityId: String? = nil, instance: Int? = nil) {
        self.recipient = recipient
        self.activityId = activityId
        self.instance = instance
    }
}
