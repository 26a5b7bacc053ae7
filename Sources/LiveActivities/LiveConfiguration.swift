import Foundation

/// How a process works on Live Activities.
package struct LiveConfiguration: Sendable {
    package var policy = StartPolicy()
    package var channels = ChannelPolicy()
    /// The orchestrator's cycle; a pushed change does not wait for it.
    var cycle = Duration.seconds(30)
    /// How often states, new activities and starts are looked for.
    package var poll = Duration.milliseconds(250)
    /// How long the lease of a subject lasts; it is renewed three times in that time.
    package var lease = Duration.seconds(15)
    /// Updates under way at once. Each waits for its outcome to be committed, so fewer hold up the others of a state.
    var updatesInFlight = 8000
    /// How long pushes under way may take to end at shutdown.
    package var drainLimit = Duration.seconds(10)
    /// Shown in `activeMatches.owner`; another one for every start of a process, so that no process takes itself for its predecessor.
    package var owner =
        "\(ProcessInfo.processInfo.hostName):\(ProcessInfo.processInfo.processIdentifier):\(UInt32.random(in: 0...UInt32.max))"

    package init() {}
}
