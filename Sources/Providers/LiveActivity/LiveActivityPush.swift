package import PushContract

/// One change of a Live Activity: its start, an update, or its end (Apple, "Starting and updating Live Activities with ActivityKit push
/// notifications").
///
/// `attributes` and `contentState` are JSON text that stands in the payload byte for byte. `message()` builds the payload once; the
/// message it gives can go to every follower, and every follower gets the same bytes.
package struct LiveActivityPush: Sendable, Hashable {
    package var event: Event
    /// The dynamic part, one JSON object in UTF-8. Needed with start and update; the last state with an end.
    package var contentState: [UInt8]?
    /// Must rise from push to push of one activity: the system shows the newest. Sent in whole seconds.
    package var timestamp: Timestamp
    /// Needed with a start.
    package var alert: LiveActivityAlert?
    /// From when on the system shows the state as out of date. Later than `timestamp`.
    package var staleDate: Timestamp?
    /// Orders the app's activities; the largest is shown in the Dynamic Island.
    package var relevanceScore: Double?
    /// High counts against the hourly budget of the activity, normal does not. Low does not exist here.
    package var priority: PushPriority
    package var collapseId: String?
    /// Not delivered after this moment. Nil: five minutes for a start, since one that never expires may start an activity long over; left
    /// to Apple otherwise.
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

    /// What only a start has.
    package struct Start: Sendable, Hashable {
        /// The name of the app's `ActivityAttributes` type.
        package var attributesType: String
        /// The static part, one JSON object in UTF-8.
        package var attributes: [UInt8]
        package var input: Input?

        /// Where updates of the started activity come from (iOS 18).
        package enum Input: Sendable, Hashable {
            /// The app is to hand in an update token.
            case token
            /// The activity listens to this broadcast channel. Below iOS 18 it then does not start.
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
