import Cricket
import ProviderSimulator

/// How much goes on in the demo.
struct DemoScale: Sendable {
    let sendsPerMinute: Int
    let tempo: ReplayTempo

    static let full = DemoScale(sendsPerMinute: 24, tempo: RepeatedMatch.quickTempo)
    static let quiet = DemoScale(sendsPerMinute: 6, tempo: RepeatedMatch.quietTempo)
}
