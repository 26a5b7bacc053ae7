import PushContract
import Testing

@testable import Postgres

@Suite("PoolState")
struct PoolStateTests {
    private typealias State = PoolState<Int, String>
    private let now = Timestamp(seconds: 1000)
    private let away = PostgresError(.connectionFailure, "away")

    @Test("opens up to the limit, then lets callers wait, and hands connections on in the order they came")
    func fifo() {
        var state = State(limit: 2)
        #expect(outcome(state.acquire(now: now)) == "open")
        #expect(outcome(state.acquire(now: now)) == "open")
        #expect(outcome(state.acquire(now: now)) == "wait")
        for name in ["a", "b", "c"] { #expect(state.enqueue(name, id: state.reserveWaiter()) == nil) }
        #expect(outcome(state.release(7, reusable: true)) == "hand 7 to a")
        #expect(outcome(state.release(8, reusable: true)) == "hand 8 to b")
        #expect(outcome(state.release(7, reusable: true)) == "hand 7 to c")
        #expect(outcome(state.release(8, reusable: true)) == "keep")
        #expect(outcome(state.acquire(now: now)) == "use 8")
    }

    @Test("a broken connection gives its place to the first waiter")
    func broken() {
        var state = State(limit: 1)
        _ = state.acquire(now: now)
        #expect(state.enqueue("a", id: state.reserveWaiter()) == nil)
        #expect(outcome(state.release(7, reusable: false)) == "open for a")
        #expect(state.open == 1)
        #expect(outcome(state.release(8, reusable: false)) == "close 8")
        #expect(state.open == 0)
    }

    @Test("a withdrawn waiter is not served, before or after it is queued")
    func withdrawal() {
        var state = State(limit: 1)
        _ = state.acquire(now: now)
        let early = state.reserveWaiter()
        #expect(state.withdraw(early, because: away) == nil)
        #expect((state.enqueue("early", id: early) as? PostgresError)?.code == .connectionFailure)
        state.forget(early)
        let late = state.reserveWaiter()
        #expect(state.enqueue("late", id: late) == nil)
        #expect(state.withdraw(late, because: away) == "late")
        #expect(outcome(state.release(7, reusable: true)) == "keep")
    }

    @Test("a failed attempt backs off, doubling to two seconds, and fails every waiter when no other connection is open")
    func backOff() {
        var state = State(limit: 1)
        var moment = now
        for pause in [50, 100, 200, 400, 800, 1600, 2000, 2000] as [Int64] {
            #expect(outcome(state.acquire(now: moment)) == "open")
            #expect(state.enqueue("a", id: state.reserveWaiter()) == nil)
            #expect(state.failedToOpen(away, now: moment) == ["a"])
            #expect(outcome(state.acquire(now: moment.advanced(by: .milliseconds(pause - 1)))) == "refuse")
            moment = moment.advanced(by: .milliseconds(pause))
        }
        #expect(outcome(state.acquire(now: moment)) == "open")
        state.opened()
        #expect(outcome(state.release(7, reusable: false)) == "close 7")
        #expect(outcome(state.acquire(now: moment)) == "open")
    }

    @Test("waiters stay queued when an attempt fails while another connection is in use")
    func failureBesideOthers() {
        var state = State(limit: 2)
        _ = state.acquire(now: now)
        _ = state.acquire(now: now)
        #expect(state.enqueue("a", id: state.reserveWaiter()) == nil)
        #expect(state.failedToOpen(away, now: now).isEmpty)
        #expect(outcome(state.release(7, reusable: true)) == "hand 7 to a")
    }

    @Test("while another connection is in use callers wait for it, also when none can be opened, as at max_connections")
    func noneToOpen() {
        var state = State(limit: 3)
        #expect(outcome(state.acquire(now: now)) == "open")
        state.opened()
        #expect(outcome(state.acquire(now: now)) == "open")
        #expect(state.failedToOpen(away, now: now).isEmpty)
        #expect(state.hasConnection && state.refusal(now: now) == nil)
        #expect(outcome(state.acquire(now: now)) == "wait")
        #expect(state.enqueue("a", id: state.reserveWaiter()) == nil)
        #expect(outcome(state.release(7, reusable: true)) == "hand 7 to a")
        #expect(outcome(state.release(7, reusable: false)) == "close 7")
        #expect(!state.hasConnection && state.refusal(now: now) != nil)
        #expect(outcome(state.acquire(now: now)) == "refuse")
    }

    @Test("a connection found broken while idle frees its place")
    func discarded() {
        var state = State(limit: 1)
        _ = state.acquire(now: now)
        _ = state.release(7, reusable: true)
        #expect(outcome(state.acquire(now: now)) == "use 7")
        #expect(state.discarded() == nil)
        #expect(outcome(state.acquire(now: now)) == "open")
    }

    @Test("who waits for a connection that is found broken opens one itself; where none can be opened, all get the error")
    func discardedWhileOthersWait() {
        var state = State(limit: 3)
        _ = state.acquire(now: now)
        state.opened()
        _ = state.acquire(now: now)
        _ = state.failedToOpen(away, now: now)
        _ = state.release(7, reusable: true)
        #expect(outcome(state.acquire(now: now)) == "use 7")
        #expect(outcome(state.acquire(now: now)) == "wait")
        for name in ["a", "b"] { #expect(state.enqueue(name, id: state.reserveWaiter()) == nil) }
        #expect(state.discarded() == "a")
        #expect(!state.hasConnection && state.waiting == 1)
        #expect(state.failedToOpen(away, now: now) == ["b"])
        #expect(state.open == 0)
    }

    @Test("a closed pool gives nothing out and closes what comes back")
    func closing() {
        var state = State(limit: 1)
        _ = state.acquire(now: now)
        #expect(state.enqueue("a", id: state.reserveWaiter()) == nil)
        let (idle, waiters) = state.close()
        #expect(idle.isEmpty && waiters == ["a"])
        #expect(outcome(state.acquire(now: now)) == "closed")
        #expect(outcome(state.release(7, reusable: true)) == "close 7")
        #expect(state.open == 0)
    }

    private func outcome(_ acquire: State.Acquire) -> String {
        switch acquire {
        case .use(let connection): "use \(connection)"
        case .open: "open"
        case .wait: "wait"
        case .refuse: "refuse"
        case .closed: "closed"
        }
    }

    private func outcome(_ release: State.Release) -> String {
        switch release {
        case .hand(let connection, let waiter): "hand \(connection) to \(waiter)"
        case .open(let waiter): "open for \(waiter)"
        case .close(let connection): "close \(connection)"
        case .keep: "keep"
        }
    }
}
