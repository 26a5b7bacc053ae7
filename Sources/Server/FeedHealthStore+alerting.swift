import Alerting
import LiveActivities
import PushContract

extension FeedHealthStore {
    /// The sources of live subjects, for alert rules.
    @Sendable
    func alertSamples(now: Timestamp) async throws -> [FeedSample] {
        try await feeds(now: now).map {
            FeedSample(feed: $0.name, subjects: $0.subjects, followers: $0.followers, silentSeconds: $0.silentSeconds)
        }
    }
}
