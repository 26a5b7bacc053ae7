import PushContract
import ServiceKit

/// The pool's state, as a value: idle connections, waiters, and when the next connection may be tried.
struct PoolState<Connection: Sendable, Waiter: Sendable> {
    enum Acquire {
        case use(Connection)
        case open
        case wait
        /// The database refused a moment ago; try again at the given moment.
        case refuse(PostgresError)
        case closed
    }

    enum Release {
        case hand(Connection, to: Waiter)
        /// A waiter may open a connection of its own.
        case open(Waiter)
        case close(Connection)
        case keep
    }

    let limit: Int
    private(set) var idle: [Connection] = []
    /// Connections in use or being opened.
    private(set) var taken = 0
    /// Of these, connections being opened.
    private var opening = 0
    private(set) var waiters: [(id: UInt64, waiter: Waiter)] = []
    private(set) var isClosed = false
    private var lastWaiterID: UInt64 = 0
    private var withdrawnEarly: [UInt64: any Error] = [:]
    private var backOff = ConnectBackOff()

    init(limit: Int) { self.limit = limit }

    var waiting: Int { waiters.count }
    var open: Int { idle.count + taken }
    /// Whether there is a connection, which may have to be waited for.
    var hasConnection: Bool { !idle.isEmpty || taken > opening }

    mutating func acquire(now: Timestamp) -> Acquire {
        if isClosed { return .closed }
        if let connection = idle.popLast() {
            taken += 1
            return .use(connection)
        }
        guard taken < limit else { return .wait }
        if let error = backOff.refusal(now: now) { return hasConnection ? .wait : .refuse(error) }
        taken += 1
        opening += 1
        return .open
    }

    /// Why a caller would get no connection now: there is none, and one could not be opened a moment ago.
    func refusal(now: Timestamp) -> PostgresError? { !hasConnection && taken < limit ? backOff.refusal(now: now) : nil }

    /// A connection that was handed out turned out to be broken before it was used: a waiter, which may have waited for it, may open one.
    mutating func discarded() -> Waiter? {
        if !isClosed, !waiters.isEmpty {
            opening += 1
            return waiters.removeFirst().waiter
        }
        taken -= 1
        return nil
    }

    /// Who might have opened a connection has no time left for it: a waiter may instead.
    mutating func passOnOpening() -> Waiter? {
        if !isClosed, !waiters.isEmpty { return waiters.removeFirst().waiter }
        taken -= 1
        opening -= 1
        return nil
    }

    /// A number for a caller that is about to wait, so that it can be withdrawn at any moment.
    mutating func reserveWaiter() -> UInt64 {
        lastWaiterID += 1
        return lastWaiterID
    }

    /// nil when the waiter is in the queue; the reason when it was withdrawn before it came here.
    mutating func enqueue(_ waiter: Waiter, id: UInt64) -> (any Error)? {
        if let reason = withdrawnEarly[id] { return reason }
        waiters.append((id, waiter))
        return nil
    }

    /// Takes a waiter out (its deadline passed or its task was cancelled); nil if it was served meanwhile or has not come yet.
    mutating func withdraw(_ id: UInt64, because reason: any Error) -> Waiter? {
        guard let index = waiters.firstIndex(where: { $0.id == id }) else {
            withdrawnEarly[id] = reason
            return nil
        }
        return waiters.remove(at: index).waiter
    }

    mutating func forget(_ id: UInt64) { withdrawnEarly[id] = nil }

    mutating func release(_ connection: Connection, reusable: Bool) -> Release {
        guard reusable, !isClosed else {
            taken -= 1
            if !isClosed, !waiters.isEmpty {
                taken += 1
                opening += 1
                return .open(waiters.removeFirst().waiter)
            }
            return .close(connection)
        }
        if !waiters.isEmpty { return .hand(connection, to: waiters.removeFirst().waiter) }
        taken -= 1
        idle.append(connection)
        return .keep
    }

    mutating func opened() {
        opening -= 1
        backOff.succeeded()
    }

    /// A connection could not be opened: every waiter hears the same, instead of trying one after the other, unless others are in use.
    mutating func failedToOpen(_ error: PostgresError, now: Timestamp) -> [Waiter] {
        taken -= 1
        opening -= 1
        backOff.failed(error, now: now)
        guard taken == 0 else { return [] }
        defer { waiters = [] }
        return waiters.map(\.waiter)
    }

    mutating func close() -> (idle: [Connection], waiters: [Waiter]) {
        isClosed = true
        defer {
            idle = []
            waiters = []
        }
        return (idle, waiters.map(\.waiter))
    }

    /// Drops every idle connection, for when the server went away under them.
    mutating func dropIdle() -> [Connection] {
        defer { idle = [] }
        return idle
    }
}

/// After a failed connection attempt the next one waits 50 ms, doubling to 2 s; meanwhile callers get the same error at once.
struct ConnectBackOff {
    private static let backoff = Backoff(base: .milliseconds(50), cap: .seconds(2))
    private var failures = 0
    private var last: (error: PostgresError, until: Timestamp)?

    func refusal(now: Timestamp) -> PostgresError? {
        guard let last, now < last.until else { return nil }
        return last.error
    }

    mutating func failed(_ error: PostgresError, now: Timestamp) {
        failures += 1
        last = (error, now + Self.backoff.ceiling(failures: failures))
    }

    mutating func succeeded() {
        failures = 0
        last = nil
    }
}
