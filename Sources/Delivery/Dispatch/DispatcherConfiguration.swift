import Foundation

/// How a process works on the queue.
package struct DispatcherConfiguration: Sendable {
    /// Tries under way at once.
    package var capacity: Int
    /// Deliveries taken by one claim at most.
    package var claimLimit: Int
    /// Deliveries that one round makes ready when a circuit has closed, and as many retries.
    var releaseLimit = 1000
    /// How long a claim holds. Longer than any provider request may take.
    package var lease: Duration
    /// Pause after a round that found nothing: from `shortestPause`, doubling up to `longestPause`.
    var shortestPause: Duration
    package var longestPause: Duration
    /// How often throttles are read, leases that ran out are taken over, and what became visible late is searched for.
    package var sweep: Duration
    /// How long tries under way may take to end at shutdown.
    package var drainLimit: Duration
    /// How long a request may wait for slots for its sends before they go into the queue. When something has been waiting there for as
    /// long, none waits any more until the queue is empty: so a provider that has stopped answering holds up its first sends only.
    package var slotWait: Duration
    package var delays: RetryDelays
    package var queues: QueueScheduler.Policy
    /// Shown in `pushLeases.worker`. Of this process alone: a container that starts again may have the host name and process id of the one
    /// before, whose leases are of attempts that were begun.
    package var worker: String

    package init(
        capacity: Int = 500,
        claimLimit: Int = 250,
        lease: Duration = .seconds(60),
        shortestPause: Duration = .milliseconds(20),
        longestPause: Duration = .milliseconds(500),
        sweep: Duration = .seconds(1),
        drainLimit: Duration = .seconds(20),
        slotWait: Duration = .milliseconds(250),
        delays: RetryDelays = RetryDelays(),
        queues: QueueScheduler.Policy = QueueScheduler.Policy(),
        worker: String = DispatcherConfiguration.ownWorker()
    ) {
        self.capacity = capacity
        self.claimLimit = claimLimit
        self.lease = lease
        self.shortestPause = shortestPause
        self.longestPause = longestPause
        self.sweep = sweep
        self.drainLimit = drainLimit
        self.slotWait = slotWait
        self.delays = delays
        self.queues = queues
        self.worker = worker
    }

    package static func ownWorker() -> String {
        let process = ProcessInfo.processInfo
        return "\(process.hostName):\(process.processIdentifier):\(UInt32.random(in: .min ... .max))"
    }
}
