import Delivery
import Providers
import PushContract

/// Who has to be sent what: for each update token, and each channel, one request under way, and behind it the newest state.
///
/// There is no queue of states. A token that is free and lacks the current state waits in line once; what it is sent is decided when its
/// turn comes. So a slow provider skips states instead of piling them up, and the newest is never dropped. Alerts of skipped states go with
/// the next one that is sent (`DueAlerts`). Pure.
struct FanOutState: Sendable {
    /// One update to make.
    struct Job: Sendable {
        var recipient: Recipient
        var state: PublishedState
        var priority: PushPriority
        var attemptNumber: Int
        var due = DueAlerts()
        /// The device's bucket after one was taken from it for this; nil: none was.
        var budgetFullAt: Timestamp?
    }

    private struct Slot {
        var recipient: Recipient
        /// Alerts of states up to this one are not due: they were sent, or refused. What is only repeated does not alert again.
        var alertedThrough: Int64
        var isInFlight = false
        var isPending = false
        /// Gone from the audience while a request was under way.
        var isRemoved = false
        /// The provider says that its token, or channel, leads nowhere.
        var isTokenInvalid = false
        var failures = 0
        var attempts = (timestamp: Int64(0), count: 0)
        var backOffUntil: Timestamp?
        /// What is under way is to be sent once more, so long after it.
        var repeatAfter: Duration?
    }

    /// A subject's states, the newest last; older ones only to know what a token missed.
    private struct SubjectState {
        var state: PublishedState
        var events: [(timestamp: Int64, event: KeyEventClass)] = []
    }

    /// Waits after failures of one token, for as long as no newer state resets them.
    private static let backOffDelays: [Duration] = [.seconds(1), .seconds(5), .seconds(15), .seconds(60)]

    /// How long a dead token rests: by then its activity is no recipient any more.
    private static let invalidTokenDelay = Duration.seconds(60)

    private var subjectStates: [String: SubjectState] = [:]
    private var slots: [ActivityKey: Slot] = [:]
    private var pending = FIFO<ActivityKey>()
    private var backingOff: [ActivityKey: Timestamp] = [:]
    private var budgets = BoundaryBudgets()
    /// No rest ends before this.
    private var earliestBackOffEnd: Timestamp?

    /// Tokens that wait for their turn, rest after failures, and are being sent to.
    var waiting: Int { pending.count }
    var backingOffCount: Int { backingOff.count }
    private(set) var inFlight = 0

    func state(of subject: String) -> PublishedState? { subjectStates[subject]?.state }

    /// A newer state of a subject; an older one is ignored.
    mutating func publish(_ state: PublishedState) {
        var subjectState = subjectStates[state.subject] ?? SubjectState(state: state)
        guard subjectState.events.isEmpty || state.timestamp > subjectState.state.timestamp else { return }
        subjectState.state = state
        subjectState.events.append((state.timestamp, state.event))
        if subjectState.events.count > 64 { subjectState.events.removeFirst() }
        subjectStates[state.subject] = subjectState
    }

    /// All activities of a subject that are active now; others leave, and those that lack the state wait in line.
    mutating func keepOnly(_ keys: [ActivityKey], of subject: String, now: Timestamp) {
        let present = Set(keys)
        for key in Array(slots.keys) where key.subject == subject && !present.contains(key) { leave(key) }
        for key in keys { enqueue(key, now: now) }
    }

    /// One activity is there, or has another token.
    mutating func join(_ recipient: Recipient, now: Timestamp) {
        budgets.learn(recipient.key, fullAt: recipient.budgetFullAt)
        if var slot = slots[recipient.key] {
            if slot.recipient.address != recipient.address {
                slot.failures = 0
                slot.backOffUntil = nil
                backingOff[recipient.key] = nil
                // What replaces a dead one was sent nothing yet.
                if slot.isTokenInvalid { slot.recipient.lastTimestamp = 0 }
                slot.isTokenInvalid = false
            }
            let sent = max(slot.recipient.lastTimestamp, recipient.lastTimestamp)
            slot.recipient = recipient
            slot.recipient.lastTimestamp = sent
            slot.isRemoved = false
            slots[recipient.key] = slot
        } else {
            slots[recipient.key] = Slot(recipient: recipient, alertedThrough: max(recipient.lastTimestamp, recipient.alertedThrough))
        }
        enqueue(recipient.key, now: now)
    }

    func address(of key: ActivityKey) -> TokenHash? { slots[key]?.recipient.address.hash }

    /// The newest state is to be sent to one once more, though it has it: no sooner than after `wait`, and once for all who ask until then.
    mutating func repeatNewest(to key: ActivityKey, after wait: Duration, now: Timestamp) {
        guard var slot = slots[key], let subjectState = subjectStates[key.subject] else { return }
        if slot.isInFlight {
            slots[key]?.repeatAfter = wait
        } else if slot.recipient.lastTimestamp >= subjectState.state.timestamp {
            slot.recipient.lastTimestamp = subjectState.state.timestamp - 1
            backOff(&slot, until: now + wait)
            slots[key] = slot
        }
    }

    /// The subject is over, or another instance has it now.
    mutating func forget(_ subject: String) {
        subjectStates[subject] = nil
        for key in Array(slots.keys) where key.subject == subject { leave(key) }
    }

    /// The next update to make; nil when every token has the newest state, is being sent to, or rests.
    mutating func next(now: Timestamp) -> Job? {
        var none = LiveThrottles()
        return next(now: now, throttles: &none)
    }

    /// The same under throttles: what they suppress is tried again in a moment.
    mutating func next(now: Timestamp, throttles: inout LiveThrottles) -> Job? {
        wake(now: now)
        budgets.prune(now: now)
        while let key = pending.popFirst() {
            guard var slot = slots[key] else { continue }
            slot.isPending = false
            slots[key] = slot
            guard !slot.isInFlight, !slot.isRemoved, let subjectState = subjectStates[key.subject],
                slot.recipient.lastTimestamp < subjectState.state.timestamp
            else { continue }
            let due = DueAlerts(
                subjectState.state.alerts,
                after: slot.alertedThrough,
                since: slot.recipient.createdAt,
                now: now
            )
            let missed =
                due.shown != nil
                ? .alerting
                : subjectState.events.filter { $0.timestamp > slot.recipient.lastTimestamp }.map(\.event).max() ?? subjectState.state.event
            guard throttles.admits(missed, app: slot.recipient.app, now: now) else {
                backOff(&slot, until: now + LiveThrottles.retryInterval)
                slots[key] = slot
                continue
            }
            let budget = budgets[key]
            let priority = UpdatePriority.choose(missed, budget: &budgets[key], now: now)
            slot.attempts =
                slot.attempts.timestamp == subjectState.state.timestamp
                ? (subjectState.state.timestamp, slot.attempts.count + 1) : (subjectState.state.timestamp, 1)
            slot.isInFlight = true
            slots[key] = slot
            inFlight += 1
            var job = Job(recipient: slot.recipient, state: subjectState.state, priority: priority, attemptNumber: slot.attempts.count)
            job.due = due
            if budgets[key] != budget { job.budgetFullAt = budgets[key].fullAt }
            return job
        }
        return nil
    }

    /// What becomes of a token after a request.
    enum Ending: Sendable, Hashable {
        case sent
        /// Try again after a rest, or with the next state.
        case failed(retryAfter: Duration?)
        /// This state cannot be sent to this token; the next may.
        case skipped
        /// The provider says that it leads nowhere. Whether it gets another state is for the audience to say: who is out of it leaves with
        /// the next look at it, and is sent nothing until then, whatever a look found that began before. One that is still in it, since its
        /// token was registered after its end, rests for a minute.
        case over
    }

    mutating func finish(_ job: Job, _ ending: Ending, now: Timestamp) {
        guard var slot = slots[job.recipient.key] else { return }
        slot.isInFlight = false
        inFlight -= 1
        guard slot.recipient.address == job.recipient.address || slot.isRemoved else {
            // The answer is about the token that was asked. The one that took its place meanwhile gets the state, and no second alert.
            if ending == .sent { slot.alertedThrough = max(slot.alertedThrough, job.state.timestamp) }
            slot.repeatAfter = nil
            slots[job.recipient.key] = slot
            enqueue(job.recipient.key, now: now)
            return
        }
        switch ending {
        case .sent, .skipped:
            slot.recipient.lastTimestamp = max(slot.recipient.lastTimestamp, job.state.timestamp)
            slot.alertedThrough = max(slot.alertedThrough, job.state.timestamp)
            slot.failures = 0
            if let wait = slot.repeatAfter {
                slot.recipient.lastTimestamp -= 1
                backOff(&slot, until: now + wait)
            }
        case .failed(let retryAfter):
            let wait = max(FanOutState.backOffDelays[min(slot.failures, FanOutState.backOffDelays.count - 1)], retryAfter ?? .zero)
            slot.failures += 1
            backOff(&slot, until: now + wait)
        case .over:
            slot.isTokenInvalid = true
            slot.recipient.lastTimestamp = max(slot.recipient.lastTimestamp, job.state.timestamp)
            backOff(&slot, until: now + FanOutState.invalidTokenDelay)
        }
        slot.repeatAfter = nil
        if slot.isRemoved {
            slots[job.recipient.key] = nil
            backingOff[job.recipient.key] = nil
            return
        }
        slots[job.recipient.key] = slot
        enqueue(job.recipient.key, now: now)
    }

    private mutating func backOff(_ slot: inout Slot, until end: Timestamp) {
        slot.backOffUntil = end
        backingOff[slot.recipient.key] = end
        earliestBackOffEnd = min(earliestBackOffEnd ?? end, end)
    }

    private mutating func leave(_ key: ActivityKey) {
        backingOff[key] = nil
        guard slots[key]?.isInFlight == true else {
            slots[key] = nil
            return
        }
        slots[key]?.isRemoved = true
    }

    private mutating func enqueue(_ key: ActivityKey, now: Timestamp) {
        guard let slot = slots[key], !slot.isPending, !slot.isInFlight, !slot.isRemoved, let subjectState = subjectStates[key.subject],
            slot.recipient.lastTimestamp < subjectState.state.timestamp, slot.backOffUntil.map({ $0 <= now }) ?? true
        else { return }
        slots[key]?.isPending = true
        pending.append(key)
    }

    /// Tokens whose rest is over wait in line again; how many wait then.
    mutating func resumeBackedOff(now: Timestamp) -> Int {
        wake(now: now)
        return waiting
    }

    private mutating func wake(now: Timestamp) {
        guard let earliestBackOffEnd, earliestBackOffEnd <= now else { return }
        for (key, until) in backingOff where until <= now {
            backingOff[key] = nil
            slots[key]?.backOffUntil = nil
            enqueue(key, now: now)
        }
        self.earliestBackOffEnd = backingOff.values.min()
    }
}
