import Cricket
import ProviderSimulator

/// How much traffic the demo makes.
struct DemoScale: Sendable {
    let sendsPerMinute: Int
    let pace: ReplayPace

    static let full = DemoScale(sendsPerMinute: 24, pace: RepeatedMatch.quickPace)
    static let quiet = DemoScale(sendsPerMinute: 6, pace: RepeatedMatch.quietPace)
}
