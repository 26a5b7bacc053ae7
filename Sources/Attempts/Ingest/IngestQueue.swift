import Glibc
import Metrics
import Postgres
import PushContract
import Synchronization

/// What waits to be written: requests' batches, bounded in rows and bytes, handed to writers as one batch per transaction.
///
/// Not a `GroupCommit`: several writers take batches at once, what waits is bounded in rows and bytes, and a writer waits for the next
/// batch on its connection's own thread, which saves two changes of thread for each transaction.
///
/// Safe to use from any task: one lock around plain state.
final class IngestQueue: Sendable {
    private struct State {
        var waiting: [Entry] = []
        var locked = LockedEntries()
        /// Of those that wait and those being written; some may be given meanwhile.
        var answers: [Answer] = []
        var rows = 0
        var bytes = 0
        var idleWriters: [IdleWriter] = []
        var activeWriters = 0
        /// When a writer has last taken work.
        var takenAt = ContinuousClock.now
        var isClosed = false
        /// As the limits say, where the database is one PostgreSQL.
        var rowsPerFurtherWriter: Int
        var waitLimit: Duration
        var limitsLocks = true
    }

    /// How long a distributed transaction, which takes longer, is waited for before a second one begins.
    private static let distributedWaitLimit = Duration.milliseconds(200)
    /// How long a transaction waits for a lock: longer than a commit usually takes.
    private static let lockLimit = Duration.milliseconds(250)
    /// The same for what has met one: short, since those that are tried after it wait meanwhile.
    private static let lockProbe = Duration.milliseconds(50)
    /// How often a writer yields for further rows, and up to how many: measured (docs/decisions/0067). With more of either it yields also
    /// where nothing is gained by it.
    private static let yieldLimit = 4
    private static let yieldRows = 20

    private let limits: IngestLimits
    private let yieldThread: @Sendable () -> Void
    private let state: Mutex<State>

    /// - Parameter yieldThread: lets other threads run that are ready to.
    init(limits: IngestLimits, yieldThread: @escaping @Sendable () -> Void = { sched_yield() }) {
        self.limits = limits
        self.yieldThread = yieldThread
        state = Mutex(State(rowsPerFurtherWriter: limits.rowsPerFurtherWriter, waitLimit: limits.waitLimit))
    }

    /// Where tables are distributed each transaction costs for each shard: it is filled before a second one begins.
    func adapt(to engine: DatabaseEngine) {
        state.withLock { state in
            state.rowsPerFurtherWriter = engine.isDistributed ? limits.rowsPerTransaction : limits.rowsPerFurtherWriter
            state.waitLimit = engine.isDistributed ? max(limits.waitLimit, IngestQueue.distributedWaitLimit) : limits.waitLimit
            // Keys are on other nodes, where it would not apply, and shards, which are here, are locked in turn by each transaction.
            state.limitsLocks = !engine.isDistributed
        }
    }

    /// How long a transaction of these waits for a lock. Nil: as long as a statement may take.
    func lockLimit(of entries: [Entry]) -> Duration? {
        guard state.withLock({ $0.limitsLocks }) else { return nil }
        return entries.first?.isLocked == true ? Self.lockProbe : Self.lockLimit
    }

    /// Also those that wait for locks.
    var waitingRows: Int { state.withLock { $0.rows + $0.locked.rows } }

    /// Whether a request with that much body would be refused now: asked before the body is read. Nil: the length is not known.
    func refusal(bodyBytes: Int?) -> IngestRefusal? {
        state.withLock { state in
            if state.isClosed { return .shuttingDown }
            if state.waiting.isEmpty { return nil }
            // A header may say any number: adding to it could overflow.
            return state.rows >= limits.waitingRows || (bodyBytes ?? 0) > limits.waitingBytes - state.bytes ? .full : nil
        }
    }

    /// Puts a batch in; its answer comes after the commit.
    func submit(_ batch: AttemptBatch) async throws -> [AttemptResult] {
        try await withCheckedThrowingContinuation { continuation in
            let entry = Entry(batch: batch, answer: Answer(continuation, end: .now + limits.answerWithin))
            let refusal: IngestRefusal? = state.withLock { state in
                if state.isClosed { return .shuttingDown }
                // A request larger than the whole buffer is let in when nothing else waits.
                guard
                    state.waiting.isEmpty
                        || (state.rows + batch.count <= limits.waitingRows && state.bytes + batch.byteCount <= limits.waitingBytes)
                else { return .full }
                state.waiting.append(entry)
                state.answers.append(entry.answer)
                state.rows += batch.count
                state.bytes += batch.byteCount
                wakeWriter(&state, now: .now)
                return nil
            }
            if let refusal { entry.answer.give(.failure(refusal)) }
        }
    }

    /// Answers those whose time is over, whatever the database does, and drops them where no writer has taken them. Wakes writers for what
    /// has waited long enough for another one or for a lock, which nothing else triggers without further arrivals. False when no answer is
    /// due any more and none will be.
    func expire(now: ContinuousClock.Instant = .now) -> Bool {
        let (expired, givenUp, goesOn) = state.withLock { state in
            let expired = state.answers.filter { $0.end <= now && !$0.isGiven }
            state.answers.removeAll { $0.end <= now || $0.isGiven }
            state.waiting.removeAll { $0.answer.end <= now }
            let givenUp = state.locked.removeLate(now: now)
            state.rows = state.waiting.reduce(0) { $0 + $1.batch.count }
            state.bytes = state.waiting.reduce(0) { $0 + $1.batch.byteCount }
            wakeWriter(&state, now: now)
            return (expired, givenUp, !state.isClosed || !state.answers.isEmpty)
        }
        IngestMetrics.failures.increment(by: givenUp)
        for answer in expired {
            answer.give(.failure(PostgresError(.callTimeout, "the attempts were not stored within \(limits.answerWithin)")))
        }
        return goesOn
    }

    /// The next transaction's entries; empty once the queue is closed and drained. `finish` ends the writer's work on them.
    func take() async -> [Entry] {
        await withCheckedContinuation { continuation in
            let entries = state.withLock { takeOrWait(&$0, as: .task(continuation)) }
            if let entries { continuation.resume(returning: entries) }
        }
    }

    /// `finish` and `take` for a thread that may block: one change of threads less for a request that finds the server idle. Empty, too,
    /// when nothing has come for a moment: then the connection is given back. Only work may keep it, as others wait for those in use also
    /// where the database is away.
    func finishAndTakeBlocking(_ done: [Entry]) -> [Entry] {
        yield(upTo: done.reduce(0) { $0 + $1.batch.count })
        let handover = Handover()
        let entries = state.withLock { state in
            finish(done, &state)
            return takeOrWait(&state, as: .thread(handover))
        }
        return entries ?? handover.wait(upTo: limits.idleLimit) ?? withdraw(handover)
    }

    /// Lets other threads run before the next transaction, while it would have fewer rows than the one before. A processor that is busy
    /// is so with the requests that were just answered: what comes of them joins the transaction, of whose cost most does not depend on
    /// its rows. Where a processor is free this takes no time, so no work waits for a timer.
    private func yield(upTo rows: Int) {
        let rows = min(rows, Self.yieldRows)
        for _ in 0..<Self.yieldLimit where state.withLock({ $0.rows }) < rows { yieldThread() }
    }

    /// What it was given meanwhile.
    private func withdraw(_ handover: Handover) -> [Entry] {
        let wasIdle = state.withLock { state in
            let index = state.idleWriters.firstIndex { if case .thread(let other) = $0 { other === handover } else { false } }
            if let index { state.idleWriters.remove(at: index) }
            return index != nil
        }
        return wasIdle ? [] : handover.wait()
    }

    func finish(_ done: [Entry]) { state.withLock { finish(done, &$0) } }

    private func finish(_ done: [Entry], _ state: inout State) {
        if done.first?.isLocked == true { state.locked.isTaken = false } else { state.activeWriters -= 1 }
    }

    /// Of a transaction that met a lock, before `finish`: its entries are tried again apart from the others, until they are late. Those
    /// that are, and those for which there is no space, are answered with the error.
    ///
    /// - Returns: how many were answered.
    @discardableResult
    func addLocked(_ entries: [Entry], because error: PostgresError) -> Int {
        let refused = state.withLock { state in
            let now = ContinuousClock.now
            let inTime = entries.filter { $0.answer.end > now && !$0.answer.isGiven }
            guard state.locked.add(inTime, limits: limits, now: now) else { return entries }
            return entries.filter { $0.answer.end <= now }
        }
        for entry in refused { entry.answer.give(.failure(error)) }
        return refused.count
    }

    private func takeOrWait(_ state: inout State, as writer: IdleWriter) -> [Entry]? {
        if let entries = next(&state, now: .now) { return entries }
        if state.isClosed { return [] }
        state.idleWriters.append(writer)
        return nil
    }

    /// What one more writer should begin with. What met a lock goes first, by one writer at a time, but never while nobody writes the rest.
    private func next(_ state: inout State, now: ContinuousClock.Instant) -> [Entry]? {
        if state.activeWriters > 0 || state.waiting.isEmpty, let entries = state.locked.take(now: now, isLast: state.isClosed) {
            return entries
        }
        return hasWork(state, now: now) ? takeSome(&state) : nil
    }

    /// Whether one more writer should begin. While one is at work, what comes waits for it and goes into one transaction, which is
    /// what makes many small requests cheap; a second helps only where there is enough for both, or where the first hangs.
    private func hasWork(_ state: State, now: ContinuousClock.Instant) -> Bool {
        if state.waiting.isEmpty { return false }
        if state.isClosed || state.activeWriters == 0 { return true }
        return state.rows >= state.rowsPerFurtherWriter || now - state.takenAt > state.waitLimit
    }

    private func wakeWriter(_ state: inout State, now: ContinuousClock.Instant) {
        while !state.idleWriters.isEmpty, let entries = next(&state, now: now) { state.idleWriters.removeLast().wake(with: entries) }
    }

    private func takeSome(_ state: inout State) -> [Entry] {
        state.activeWriters += 1
        state.takenAt = .now
        var rows = 0
        var count = 0
        for entry in state.waiting {
            if count > 0, rows + entry.batch.count > limits.rowsPerTransaction { break }
            rows += entry.batch.count
            count += 1
        }
        let taken = Array(state.waiting[..<count])
        state.waiting.removeFirst(count)
        state.rows -= rows
        state.bytes -= taken.reduce(0) { $0 + $1.batch.byteCount }
        return taken
    }

    /// Refuses new batches; writers drain what waits.
    func close() {
        let writers = state.withLock { state in
            state.isClosed = true
            wakeWriter(&state, now: .now)
            defer { state.idleWriters = [] }
            return state.idleWriters
        }
        for writer in writers { writer.wake(with: []) }
    }
}
