import CLibPQ
import PushContract
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// All waiting for the server, each time until a deadline of our own.
///
/// libpq's blocking calls wait for ever for a server that is stopped and not dead: its kernel goes on acknowledging. So the connection is
/// non-blocking, and the only place where its owner waits is `wait` here.
extension BlockingConnection {
    /// How long one `poll` may take at most: then a cancellation is noticed, and what TLS has buffered is read.
    private static let slice: Duration = .milliseconds(500)

    /// Begins a call: sends what `send` gives to libpq.
    func begin(_ send: () -> Int32) throws(PostgresError) {
        guard isHealthy else { throw connectionLost() }
        let now = ContinuousClock.now
        callEnd = callTimeout.map { now + $0 }
        if let workEnd {
            // Nothing is sent, so the connection stays usable.
            guard now < workEnd else { throw PostgresError(.callTimeout, "the time for this request is over") }
            callEnd = callEnd.map { min($0, workEnd) } ?? workEnd
        }
        guard send() == 1 else { throw connectionLost() }
    }

    /// One exchange: the last answer, as `PQexec` gives it, or that of a COPY that has begun.
    func exchange(_ send: () -> Int32) throws(PostgresError) -> ResultSet {
        try begin(send)
        try flush()
        var last: OpaquePointer?
        do throws(PostgresError) {
            while let answer = try nextAnswer() {
                PQclear(last)
                last = answer
                if [PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH].contains(PQresultStatus(answer)) || !isHealthy { break }
            }
        } catch {
            // An error that came before the loss says more, such as why the server ended the session.
            guard last != nil, PQresultStatus(last) == PGRES_FATAL_ERROR, error.code != .callTimeout else {
                PQclear(last)
                throw error
            }
        }
        return try take(last)
    }

    /// The next answer of the call under way; nil after its last one.
    func nextAnswer() throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(connection) == 1 {
            // TLS may have decrypted more than was read of it, which `poll` does not see.
            if PQsslInUse(connection) == 1 {
                try consume()
                if PQisBusy(connection) == 0 { break }
            }
            try wait(for: Int16(POLLIN))
            try consume()
        }
        return PQgetResult(connection)
    }

    /// Returns when everything is sent. Reads meanwhile: the server may be waiting for us to take its answers before it reads on.
    func flush() throws(PostgresError) {
        while true {
            switch PQflush(connection) {
            case 0: return
            case 1:
                if try wait(for: Int16(POLLIN | POLLOUT)) & Int16(POLLIN) != 0 { try consume() }
            default: throw connectionLost()
            }
        }
    }

    private func consume() throws(PostgresError) {
        guard PQconsumeInput(connection) == 1 else { throw connectionLost() }
    }

    /// What the socket is ready for. Past the deadline the connection is of no more use: closed, and what was under way is unknown.
    @discardableResult
    private func wait(for events: Int16) throws(PostgresError) -> Int16 {
        while true {
            var slice = BlockingConnection.slice
            if let end = interruption.end(orEarlier: callEnd) {
                let rest = end - .now
                guard rest > .zero else { throw abandon() }
                slice = min(slice, rest)
            }
            var look = pollfd(fd: PQsocket(connection), events: events, revents: 0)
            // Rounded up, so that the last wait does not become a busy one.
            let ready = poll(&look, 1, Int32(slice.microseconds / 1000 + 1))
            if ready > 0 { return look.revents }
            if ready == 0, PQsslInUse(connection) == 1 { return Int16(POLLIN) }
            guard ready == 0 || errno == EINTR else { throw connectionLost() }
        }
    }

    /// Closes the socket under libpq, so that nothing more is sent or received, and the server ends the session when it can.
    @discardableResult
    func abandon() -> PostgresError {
        isAbandoned = true
        shutdown(PQsocket(connection), Int32(SHUT_RDWR))
        return PostgresError(.callTimeout, "the database did not answer in time; the connection was closed")
    }

    /// Runs `body` with another limit for each of its calls. Nil: none, for work of unbounded length, such as a migration.
    func limitingCalls<Value>(to limit: Duration?, _ body: () throws(PostgresError) -> Value) throws(PostgresError) -> Value {
        let (usual, usualEnd) = (callTimeout, workEnd)
        (callTimeout, workEnd) = (limit, nil)
        defer { (callTimeout, workEnd) = (usual, usualEnd) }
        return try body()
    }

    /// Undoes what is open, also after the deadline of the work; a server that does not do that at once is left.
    package func rollBack() {
        deferred = []
        try? limitingCalls(to: .seconds(1)) { () throws(PostgresError) in try executeScript("ROLLBACK") }
    }
}

/// When the call under way is given up because its task was cancelled: soon after, if the server does not obey. Safe to use from any
/// thread.
final class CallInterruption: Sendable {
    private static let patience: Duration = .seconds(2)
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    func reset() { end.withLock { $0 = nil } }
    func cancelled() { end.withLock { $0 = .now + CallInterruption.patience } }

    func end(orEarlier other: ContinuousClock.Instant?) -> ContinuousClock.Instant? {
        guard let own = end.withLock({ $0 }) else { return other }
        return other.map { min($0, own) } ?? own
    }
}
