import Alerting
import LiveActivities
import PushContract

extension FeedHealthStore {
    /// The feeds of matches that are being played, for alert rules.
    @Sendable
    func alertSamples(now: Timestamp) async throws -> [FeedSample] {
        try await feeds(now: now).map {
            FeedSample(feed: $0.name, matches: $0.matches, followers: $0.followers, silentSeconds: $0.silentSeconds)
        }
    }
}
