package import PushContract

/// One change of a Live Activity: its start, an update, or its end (Apple, "Starting and updating Live Activities with ActivityKit push
/// notifications").
///
/// `attributes` and `contentState` are JSON text that is copied into the payload byte for byte. `message()` builds the payload once; the
/// message can be sent to every follower, and every follower receives the same bytes.
package struct LiveActivityPush: Sendable, Hashable {
    package var event: Event
    /// The dynamic part, one JSON object in UTF-8. Required with start and update; optional with end.
    package var contentState: [UInt8]?
    /// Must rise from push to push of one activity: the system shows the newest. Sent in whole seconds.
    package var timestamp: Timestamp
    /// Required with a start.
    package var alert: LiveActivityAlert?
    /// When the system starts to show the state as out of date. Later than `timestamp`.
    package var staleDate: Timestamp?
    /// Orders the app's activities; the largest is shown in the Dynamic Island.
    var relevanceScore: Double?
    /// How the alert may interrupt. Apple describes it for notifications; a device may ignore it here.
    package var interruptionLevel: String?
    /// High counts against the hourly budget of the activity, normal does not. Low does not exist here.
    package var priority: PushPriority
    package var collapseId: String?
    /// The push is not delivered after this moment. Nil: five minutes for a start, since a late one may start an activity that is over;
    /// left to Apple otherwise.
    package var expiresAt: Timestamp?

    package enum Event: Sendable, Hashable {
        case start(Start)
        case update
        /// - Parameter dismissal: when the ended activity leaves the Lock Screen, four hours later at most; a moment in the past means at
        ///   once, nil leaves it to the system.
        case end(dismissal: Timestamp? = nil)

        /// `aps.event`.
        package var name: String {
            switch self {
            case .start: "start"
            case .update: "update"
            case .end: "end"
            }
        }
    }

    /// The parts that only a start has.
    package struct Start: Sendable, Hashable {
        /// The name of the app's `ActivityAttributes` type.
        package var attributesType: String
        /// The static part, one JSON object in UTF-8.
        package var attributes: [UInt8]
        package var input: Input?

        /// How the started activity receives updates (iOS 18).
        package enum Input: Sendable, Hashable {
            /// Through an update token, which the app registers.
            case token
            /// Through this broadcast channel. The activity does not start before iOS 18.
            case channel(String)
        }

        package init(attributesType: String, attributes: [UInt8], input: Input? = nil) {
            self.attributesType = attributesType
            self.attributes = attributes
            self.input = input
        }
    }

    package init(
        _ event: Event,
        contentState: [UInt8]?,
        timestamp: Timestamp,
        alert: LiveActivityAlert? = nil,
        staleDate: Timestamp? = nil,
        relevanceScore: Double? = nil,
        priority: PushPriority = .high,
        collapseId: String? = nil,
        expiresAt: Timestamp? = nil
    ) {
        self.event = event
        self.contentState = contentState
        self.timestamp = timestamp
        self.alert = alert
        self.staleDate = staleDate
        self.relevanceScore = relevanceScore
        self.priority = priority
        self.collapseId = collapseId
        self.expiresAt = expiresAt
    }
}
