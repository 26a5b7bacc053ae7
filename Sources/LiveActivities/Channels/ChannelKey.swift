package import PushContract

/// Which channel: one subject, app and environment have one.
package struct ChannelKey: Sendable, Hashable {
    package var subject: String
    package var place: LivePlace

    package init(subject: String, place: LivePlace) {
        self.subject = subject
        self.place = place
    }

    /// Its place among the activities of the fan-out, and in the telemetry: attempts of broadcasts have `channel:<matchId>` for a uid.
    package var activity: ActivityKey {
        ActivityKey(subject: subject, userId: "channel:\(subject)", deviceId: "\(place.app) \(place.environment.rawValue)", generation: 0)
    }
}
