public import PushContract

/// The offline queue: the operations that have to reach the server, in order, on the contract's schedule. A value without side effects.
///
/// Every decision uses the time it is called with. When the clock is set back, all times of the queue go back with it: that neither extends
/// a window nor delays an attempt.
public struct PendingOperations: Codable, Sendable, Hashable {
    /// All unsettled operations, oldest first.
    public private(set) var operations: [PendingOperation] = []
    private var latest = Timestamp(microseconds: 0)

    /// An empty queue.
    public init() {}

    /// The result of queueing an operation.
    public enum Admission: Sendable, Hashable {
        /// Queued; these operations were dropped because the new one replaces them.
        case added(PendingOperation, superseded: [PendingOperation])
        /// The same operation is queued already; it is attempted immediately.
        case waitsAlready(operationId: String)
    }

    /// The state of an operation after an attempt.
    public enum Settlement: Sendable, Hashable {
        case success(PendingOperation)
        /// Retried at `nextAttemptAt`.
        case retry(PendingOperation)
        case waitingForSession(PendingOperation)
        case needsAttention(PendingOperation)
        /// Waits for a registration, which has to be queued now.
        case needsRegistration(PendingOperation)
        /// The server no longer has the activity.
        case activityEnded(PendingOperation)
        /// Dropped: it failed for now, and its opposite was queued meanwhile.
        case outdated(PendingOperation)
        /// Not in the queue: it was cancelled.
        case unknown
    }

    /// Queues an operation, unless the same one is queued already. It is due immediately, and so are the operations before it.
    ///
    /// A registration goes before start tokens that wait, as they need the device. It replaces the end of a registration that waits for the
    /// user or their session, as a follow replaces the report of a swipe.
    public mutating func enqueue(
        _ kind: OperationKind,
        uid: String,
        tokenHash: TokenHash? = nil,
        operationId: String,
        now: Timestamp
    ) -> Admission {
        let now = advance(to: now)
        let same = operations.first {
            $0.kind == kind && $0.uid == uid && $0.tokenHash == tokenHash && [.queued, .inFlight].contains($0.state)
                && !isFollowedByItsOpposite($0)
        }
        if let same {
            makeDue(same.operationId, now: now)
            return .waitsAlready(operationId: same.operationId)
        }
        let superseded = operations.filter { old in
            guard old.uid == uid, old.state != .inFlight else { return false }
            let isOutdated = old.state != .queued && old.kind.isOutdated(by: kind)
            return isOutdated || old.kind.isSuperseded(by: kind)
        }
        operations.removeAll { old in superseded.contains { $0.operationId == old.operationId } }
        var operation = PendingOperation(operationId: operationId, kind: kind, uid: uid, tokenHash: tokenHash, enqueuedAt: now)
        operation.nextAttemptAt = now
        operations.append(operation)
        if kind == .register {
            move(operationId) { if case .startToken = $0.kind { $0.uid == uid } else { false } }
        }
        makeDue(operationId, now: now)
        return .added(operation, superseded: superseded)
    }

    /// A register that is followed by a queued unregister is not the same as one requested now.
    private func isFollowedByItsOpposite(_ operation: PendingOperation) -> Bool {
        guard let index = operations.firstIndex(where: { $0.operationId == operation.operationId }) else { return false }
        return operations[(index + 1)...].contains { later in
            guard later.uid == operation.uid else { return false }
            return switch (operation.kind, later.kind) {
            case (.register, .unregister), (.unregister, .register): true
            default: false
            }
        }
    }

    /// Drops matching operations that wait; those in flight stay until they are answered.
    public mutating func cancel(where matches: (PendingOperation) -> Bool) -> [PendingOperation] {
        let cancelled = operations.filter { $0.state != .inFlight && matches($0) }
        operations.removeAll { old in cancelled.contains { $0.operationId == old.operationId } }
        return cancelled
    }

    /// The operations to attempt now: at most the first of each ordering key. They are marked as in flight.
    ///
    /// - Parameter mayAttempt: Whether there is a session, or another credential, for the operation.
    public mutating func take(now: Timestamp, mayAttempt: (PendingOperation) -> Bool) -> [PendingOperation] {
        let now = advance(to: now)
        var busy: Set<OperationKind.OrderingKey> = []
        var taken: [PendingOperation] = []
        for index in operations.indices {
            let operation = operations[index]
            guard [.queued, .inFlight].contains(operation.state) else { continue }
            // An operation without a credential does not block those behind it.
            guard operation.state == .inFlight || mayAttempt(operation) else { continue }
            let keys = operation.kind.orderingKeys
            let isFirst = busy.isDisjoint(with: keys)
            busy.formUnion(keys)
            guard isFirst, operation.state == .queued, let due = operation.nextAttemptAt, due <= now else { continue }
            operations[index].state = .inFlight
            taken.append(operations[index])
        }
        return taken
    }

    /// Applies the result of an attempt.
    public mutating func settle(_ operationId: String, _ result: OperationResult, now: Timestamp) -> Settlement {
        let now = advance(to: now)
        guard let index = operations.firstIndex(where: { $0.operationId == operationId }), operations[index].state == .inFlight else {
            return .unknown
        }
        switch OperationVerdict(result, of: operations[index].kind) {
        case .success: return .success(operations.remove(at: index))
        case .endActivity: return .activityEnded(operations.remove(at: index))
        case .giveUp where isOutdated(index), .waitForSession where isOutdated(index): return .outdated(operations.remove(at: index))
        case .giveUp:
            operations[index].failures += 1
            operations[index].state = .needsAttention
            operations[index].nextAttemptAt = nil
            return .needsAttention(operations[index])
        case .waitForSession:
            operations[index].state = .waitingForSession
            return .waitingForSession(operations[index])
        case .registerFirst:
            _ = reschedule(index, after: nil, now: now)
            // Immediately after the registration; if the server still does not know the device, on the schedule.
            if operations[index].failures - operations[index].earlierFailures == 1 { operations[index].nextAttemptAt = now }
            return .needsRegistration(operations[index])
        case .retry(let wait): return reschedule(index, after: wait, now: now)
        }
    }

    /// Whether an operation behind it is its opposite: what waits for the user or their session would undo that one later.
    private func isOutdated(_ index: Int) -> Bool {
        operations[(index + 1)...].contains { $0.uid == operations[index].uid && operations[index].kind.isOutdated(by: $0.kind) }
    }

    private mutating func reschedule(_ index: Int, after wait: Duration?, now: Timestamp) -> Settlement {
        operations[index].failures += 1
        operations[index].state = .queued
        operations[index].nextAttemptAt = operations[index].nextAttempt(failedAt: now, retryAfter: wait)
        return .retry(operations[index])
    }

    /// Moves a user's registration that waits before all others.
    mutating func moveRegistrationFirst(of uid: String) {
        let registration = operations.first { $0.uid == uid && $0.kind == .register && $0.state == .queued }
        if let registration { move(registration.operationId) { _ in true } }
    }

    /// Moves a registration before the first operation that `isLater` names, but not before one of the device that is in flight, nor before
    /// the end of a registration.
    private mutating func move(_ operationId: String, before isLater: (PendingOperation) -> Bool) {
        guard let index = operations.firstIndex(where: { $0.operationId == operationId }) else { return }
        let last = operations[..<index].lastIndex {
            $0.kind.orderingKeys.contains(.device) && ($0.state == .inFlight || $0.kind.endsRegistration)
        }
        guard let target = operations[(last.map { $0 + 1 } ?? 0)..<index].firstIndex(where: isLater) else { return }
        operations.insert(operations.remove(at: index), at: target)
    }

    /// Makes all waiting operations due now: the app came to the foreground, the network is back, or the user asked. Schedule and window
    /// stay.
    public mutating func wake(now: Timestamp) {
        let now = advance(to: now)
        for index in operations.indices where operations[index].state == .queued {
            operations[index].nextAttemptAt = min(operations[index].nextAttemptAt ?? now, now)
        }
    }

    /// Makes the operations that waited for this user's session due now.
    public mutating func release(uid: String, now: Timestamp) {
        let now = advance(to: now)
        for index in operations.indices where operations[index].uid == uid && operations[index].state == .waitingForSession {
            operations[index].state = .queued
            operations[index].nextAttemptAt = now
        }
    }

    /// Attempts operations that need attention again, with a window of their own: the user asked.
    ///
    /// - Parameter operationId: Nil: all of them.
    public mutating func retry(_ operationId: String?, now: Timestamp) {
        let now = advance(to: now)
        for index in operations.indices where operations[index].state == .needsAttention {
            guard operationId == nil || operations[index].operationId == operationId else { continue }
            operations[index].state = .queued
            operations[index].enqueuedAt = now
            operations[index].earlierFailures = operations[index].failures
            operations[index].nextAttemptAt = now
        }
    }

    /// Marks the operations that have been retried for 24 hours, and returns them.
    public mutating func expire(now: Timestamp) -> [PendingOperation] {
        let now = advance(to: now)
        var expired: [PendingOperation] = []
        for index in operations.indices {
            guard [.queued, .waitingForSession].contains(operations[index].state) else { continue }
            guard let end = operations[index].windowEnd, end <= now else { continue }
            operations[index].state = .needsAttention
            operations[index].nextAttemptAt = nil
            expired.append(operations[index])
        }
        return expired
    }

    /// The process was restarted: operations that were in flight are attempted again.
    public mutating func restart(now: Timestamp) {
        let now = advance(to: now)
        for index in operations.indices where operations[index].state == .inFlight {
            operations[index].state = .queued
            operations[index].nextAttemptAt = now
        }
    }

    /// When `take` or `expire` has something to do next; nil if nothing waits.
    public var nextWake: Timestamp? {
        operations.compactMap { operation in
            switch operation.state {
            case .queued: [operation.nextAttemptAt, operation.windowEnd].compactMap(\.self).min()
            case .waitingForSession: operation.windowEnd
            case .inFlight, .needsAttention: nil
            }
        }.min()
    }

    /// Operations that it waits for become due too: the order is kept, and nothing waits half an hour for an old failure.
    private mutating func makeDue(_ operationId: String, now: Timestamp) {
        guard let last = operations.firstIndex(where: { $0.operationId == operationId }) else { return }
        var keys = operations[last].kind.orderingKeys
        for index in (0...last).reversed() where !keys.isDisjoint(with: operations[index].kind.orderingKeys) {
            keys.formUnion(operations[index].kind.orderingKeys)
            guard operations[index].state == .queued else { continue }
            operations[index].nextAttemptAt = min(operations[index].nextAttemptAt ?? now, now)
        }
    }

    private mutating func advance(to now: Timestamp) -> Timestamp {
        if now < latest { setBack(by: latest - now) }
        latest = now
        return now
    }

    private mutating func setBack(by ahead: Duration) {
        for index in operations.indices {
            operations[index].enqueuedAt = operations[index].enqueuedAt - ahead
            operations[index].nextAttemptAt = operations[index].nextAttemptAt.map { $0 - ahead }
        }
    }
}
