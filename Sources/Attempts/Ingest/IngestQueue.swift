import Dispatch
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
    /// One request's batch and who waits for its answer.
    struct Entry: Sendable {
        var batch: AttemptBatch
        var answer: Answer
    }

    /// Who waits for an entry's answer, and until when. Answered once: by the writer, or when the time is over, whichever comes first.
    final class Answer: Sendable {
        let end: ContinuousClock.Instant
        private let continuation: Mutex<CheckedContinuation<[AttemptResult], any Error>?>

        init(_ continuation: CheckedContinuation<[AttemptResult], any Error>, end: ContinuousClock.Instant) {
            self.continuation = Mutex(continuation)
            self.end = end
        }

        var isGiven: Bool { continuation.withLock { $0 == nil } }

        func give(_ result: Result<[AttemptResult], any Error>) { continuation.withLock { $0.take() }?.resume(with: result) }
    }

    /// A writer without work: a task that waits, or the thread of a connection that it keeps meanwhile.
    private enum IdleWriter {
        case task(CheckedContinuation<[Entry], Never>)
        case thread(Handover)

        func wake(with entries: [Entry]) {
            switch self {
            case .task(let continuation): continuation.resume(returning: entries)
            case .thread(let handover): handover.give(entries)
            }
        }
    }

    /// Passes entries to a thread that waits for them.
    ///
    /// `@unchecked Sendable`: written once before the signal, read once after it.
    private final class Handover: @unchecked Sendable {
        private let signal = DispatchSemaphore(value: 0)
        private var entries: [Entry] = []

        func give(_ entries: [Entry]) {
            self.entries = entries
            signal.signal()
        }

        func wait() -> [Entry] {
            signal.wait()
            return entries
        }

        /// Nil: none came in this time.
        func wait(upTo limit: Duration) -> [Entry]? {
            signal.wait(timeout: .now() + .microseconds(Int(limit.microseconds))) == .success ? entries : nil
        }
    }

    private struct State {
        var waiting: [Entry] = []
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
    }

    /// How long a distributed transaction, which takes longer, is waited for before a second one begins.
    private static let distributedWaitLimit = Duration.milliseconds(200)

    private let limits: IngestLimits
    private let state: Mutex<State>

    init(limits: IngestLimits) {
        self.limits = limits
        state = Mutex(State(rowsPerFurtherWriter: limits.rowsPerFurtherWriter, waitLimit: limits.waitLimit))
    }

    /// Where tables are distributed each transaction costs for each shard: it is filled before a second one begins.
    func adapt(to engine: DatabaseEngine) {
        state.withLock { state in
            state.rowsPerFurtherWriter = engine.isDistributed ? limits.rowsPerTransaction : limits.rowsPerFurtherWriter
            state.waitLimit = engine.isDistributed ? max(limits.waitLimit, IngestQueue.distributedWaitLimit) : limits.waitLimit
        }
    }

    var waitingRows: Int { state.withLock { $0.rows } }

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

    /// Answers those whose time is over, whatever the database does, and drops them where no writer has taken them. Wakes a writer for what
    /// has waited long enough for another one, which nothing else triggers without further arrivals. False when no answer is due any more
    /// and none will be.
    func expire(now: ContinuousClock.Instant = .now) -> Bool {
        let (expired, goesOn) = state.withLock { state in
            let expired = state.answers.filter { $0.end <= now && !$0.isGiven }
            state.answers.removeAll { $0.end <= now || $0.isGiven }
            state.waiting.removeAll { $0.answer.end <= now }
            state.rows = state.waiting.reduce(0) { $0 + $1.batch.count }
            state.bytes = state.waiting.reduce(0) { $0 + $1.batch.byteCount }
            wakeWriter(&state, now: now)
            return (expired, !state.isClosed || !state.answers.isEmpty)
        }
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
    func finishAndTakeBlocking() -> [Entry] {
        let handover = Handover()
        let entries = state.withLock { state in
            state.activeWriters -= 1
            return takeOrWait(&state, as: .thread(handover))
        }
        return entries ?? handover.wait(upTo: limits.idleLimit) ?? withdraw(handover)
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

    func finish() { state.withLock { $0.activeWriters -= 1 } }

    private func takeOrWait(_ state: inout State, as writer: IdleWriter) -> [Entry]? {
        if state.waiting.isEmpty, state.isClosed { return [] }
        if hasWork(state, now: .now) { return takeSome(&state) }
        state.idleWriters.append(writer)
        return nil
    }

    /// Whether one more writer should begin. While one is at work, what comes waits for it and goes into one transaction, which is
    /// what makes many small requests cheap; a second helps only where there is enough for both, or where the first hangs.
    private func hasWork(_ state: State, now: ContinuousClock.Instant) -> Bool {
        if state.waiting.isEmpty { return false }
        if state.isClosed || state.activeWriters == 0 { return true }
        return state.rows >= state.rowsPerFurtherWriter || now - state.takenAt > state.waitLimit
    }

    private func wakeWriter(_ state: inout State, now: ContinuousClock.Instant) {
        if hasWork(state, now: now), let writer = state.idleWriters.popLast() { writer.wake(with: takeSome(&state)) }
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
            defer { state.idleWriters = [] }
            return state.idleWriters
        }
        for writer in writers { writer.wake(with: []) }
    }
}

/// How much may wait to be written.
package struct IngestLimits: Sendable {
    /// Rows and bytes that may wait; beyond them a request is refused (503). One request is always let in when nothing else waits.
    var waitingRows = 50_000
    var waitingBytes = 64 << 20
    /// Rows of one transaction; a request is never split.
    package var rowsPerTransaction = 5_000
    /// So many waiting rows are worth a second transaction next to the one under way.
    var rowsPerFurtherWriter = 1_000
    /// A request is answered after so long, with 503 if the database has not: what a writer has of it may yet be stored.
    package var answerWithin: Duration = .seconds(9)
    /// After so long, and up to 50 ms more, the transaction under way is no longer waited for.
    package var waitLimit: Duration = .milliseconds(50)
    /// For so long a writer keeps its connection without work.
    var idleLimit: Duration = .seconds(1)

    package init() {}
}

/// Why a batch was not even queued. Nothing of it was stored.
enum IngestRefusal: Error, Sendable {
    case full
    case shuttingDown
}
