import PushContract

/// What one claimer remembers between rounds. Losing it costs a longer search, nothing else.
struct QueueClaims {
    /// How far the searches of the queue have come.
    private struct Position {
        var cursors: [Int32: Int64]
        var due: Timestamp?
    }

    private let policy: QueueScheduler.Policy
    private var schedulers: [SendSlots.Credential: QueueScheduler] = [:]
    /// Where the next claim of each queue begins.
    private(set) var cursors: [Int32: Int64] = [:]
    /// Behind the last delivery that was claimed from each queue.
    private var reached: [Int32: Int64] = [:]
    /// What was ready at the latest sweep came no later than this, and at the one before.
    private var lastReady: Int64 = 0
    private var readyBefore: Int64 = 0
    /// What was due before this, by the database's clock, is not searched for, nor what circuits blocked that closed before; nil:
    /// everything is.
    private(set) var dueSince: Timestamp?
    /// Everything that was due then has been found.
    private var dueReached: Timestamp?
    private var sweepStart: Timestamp?
    private var lookBack = LookBack<Position>()
    private var searchStart = SearchStart()
    var throttles: [SendThrottle] = []
    var sweptAt: ContinuousClock.Instant?
    /// Closed circuits whose deliveries are left to make ready.
    var unblocked: Set<Int64> = []
    /// Queues with retries that are left to make ready after an outage, the most urgent first, each with the last delivery that was.
    var retries: [(queue: Int32, after: Int64)] = []
    /// When something of a paced queue was last claimed.
    var pacedAt: [Int32: ContinuousClock.Instant] = [:]

    /// Deliveries that one claim takes from a paced queue: of one behind an open circuit they are only marked as blocked, and of one with a
    /// slow provider they are answered together. Larger or more frequent claims would take time from other queues.
    private static let pacedLimit = 10
    /// Between two such claims.
    private static let pacedInterval = Duration.milliseconds(100)

    init(policy: QueueScheduler.Policy) { self.policy = policy }

    var isReleasing: Bool { !unblocked.isEmpty || !retries.isEmpty }

    /// The scheduler of a credential's queues.
    subscript(credential: SendSlots.Credential) -> QueueScheduler {
        get { schedulers[credential] ?? QueueScheduler(policy: policy) }
        set { schedulers[credential] = newValue }
    }

    /// Between sweeps, what fell due longer ago is not searched for. Instances whose clock is behind the database's by less are not late.
    private static let dueMargin = Duration.seconds(5)

    /// This round also searches what others have passed.
    mutating func beginSweep(at position: QueuePosition) {
        // The database is another one, or an earlier state of it.
        if position.lastReady < lastReady { forgetPositions() }
        readyBefore = lastReady
        lastReady = position.lastReady
        let start = lookBack.next(from: Position(cursors: cursors, due: dueReached))
        cursors = searchStart.starts.merging(start?.cursors ?? [:], uniquingKeysWith: max)
        dueSince = start?.due
        sweepStart = position.now
        searchStart.beginSweep(at: position)
    }

    private mutating func forgetPositions() {
        (cursors, reached, lookBack, searchStart) = ([:], [:], LookBack(), SearchStart())
        (dueSince, dueReached) = (nil, nil)
    }

    /// What a look at the queues from `cursors` on found.
    mutating func looked(at queues: [(queue: SendQueue, first: Int64?)], isSweep: Bool) {
        if isSweep { searchStart.searched(from: cursors, found: queues.map { ($0.queue.id, $0.first) }) }
        for (queue, first) in queues where first == nil { foundNothing(in: queue.id) }
    }

    /// Nothing that was due at the latest sweep is left.
    mutating func foundAllDue() {
        dueReached = sweepStart
        dueSince = sweepStart.map { $0 - Self.dueMargin }
    }

    /// Nothing is ready from the cursor on. What got its place before the last sweep but one has been committed, or is late.
    private mutating func foundNothing(in queue: Int32) { cursors[queue] = max(reached[queue, default: 0], readyBefore) }

    /// - Parameter last: the place of the last delivery that was claimed.
    mutating func claimed(_ last: Int64, in queue: Int32) {
        cursors[queue] = last + 1
        reached[queue] = max(last + 1, reached[queue, default: 0])
    }

    func isSweepDue(_ interval: Duration, now: ContinuousClock.Instant) -> Bool {
        sweptAt.map { now - $0 >= interval } ?? true
    }

    /// How many deliveries of a paced queue may be claimed now.
    mutating func takePaced(of queue: Int32, now: ContinuousClock.Instant) -> Int {
        if let last = pacedAt[queue], now - last < Self.pacedInterval { return 0 }
        pacedAt[queue] = now
        return Self.pacedLimit
    }

    /// The throttle of a queue: the one of its app, else the provider's.
    func throttle(of queue: SendQueue) -> SendThrottle? {
        let applying = throttles.filter { $0.applies(to: queue) }
        return applying.first { $0.app != nil } ?? applying.first
    }
}
