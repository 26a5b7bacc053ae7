import Cricket
import ProviderSimulator

/// How much traffic the demo makes.
struct DemoScale: Sendable {
    let sendsPerMinute: Int
    let tempo: ReplayTempo

    static let full = DemoScale(sendsPerMinute: 24, tempo: RepeatedMatch.quickTempo)
    static let quiet = DemoScale(sendsPerMinute: 6, tempo: RepeatedMatch.quietTempo)
}
