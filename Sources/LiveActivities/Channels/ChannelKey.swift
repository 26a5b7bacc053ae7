package import Delivery
import PushContract

/// Which channel: one subject, app and environment have one.
package struct ChannelKey: Sendable, Hashable {
    package var subject: String
    package var appEnvironment: AppEnvironment

    /// Its place among the activities of the fan-out, and in the telemetry: attempts of broadcasts have `channel:<matchId>` for a uid.
    package var activity: ActivityKey {
        ActivityKey(
            subject: subject,
            userId: "channel:\(subject)",
            deviceId: "\(appEnvironment.app) \(appEnvironment.environment.rawValue)",
            instance: 0
        )
    }
}
