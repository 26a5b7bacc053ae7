import Cricket
import ProviderSimulator

/// How much traffic the demo makes.
struct DemoScale: Sendable {
    let sendsPerMinute: Int
    let pace: ReplayPace
    /// How many times longer than in their scripts states of other subjects are shown.
    let subjectPace: Int

    static let full = DemoScale(sendsPerMinute: 24, pace: RepeatedMatch.quickPace, subjectPace: 1)
    static let quiet = DemoScale(sendsPerMinute: 6, pace: RepeatedMatch.quietPace, subjectPace: 3)
}
