/// When what happened on a connection.
struct ConnectionTimes: Sendable, Hashable {
    let opened: ContinuousClock.Instant
    /// When bytes of the peer last arrived.
    var lastReceived: ContinuousClock.Instant
    /// When a request last began or ended.
    var lastUsed: ContinuousClock.Instant
    /// When the first of the requests in flight began, while there are any.
    var busySince: ContinuousClock.Instant
    /// Of the PING that has not been answered.
    var pingSentAt: ContinuousClock.Instant?
    /// PINGs since a request was last answered.
    var pings = 0

    init(opened now: ContinuousClock.Instant) {
        opened = now
        lastReceived = now
        lastUsed = now
        busySince = now
    }
}

/// What a connection has to do.
struct ConnectionUse: Sendable, Hashable {
    /// Requests that have a stream, those given up included.
    var running = 0
    /// One of them is still waited for.
    var hasWaiter = false
    var isRetired = false
    /// The peer allows requests.
    var grantsStreams = true
}

/// What becomes of an open connection. Pure functions.
///
/// A connection without requests is never asked by PING: Google ends connections that are (`too_many_pings`), and Apple allows one an hour.
/// It is asked when a request comes for it after a long silence, and when answers fail to come.
enum ConnectionPolicy {
    enum Action: Sendable, Hashable {
        case nothing, ping
        /// It takes no further requests.
        case retire
        /// It is closed: no request waits on it.
        case end
        /// A PING was not answered.
        case lost
    }

    /// The longest that the answer to a PING usually takes.
    private static let usualAnswer = Duration.milliseconds(500)

    static func action(
        _ times: ConnectionTimes,
        _ use: ConnectionUse,
        limits: HTTP2ClientConfiguration,
        now: ContinuousClock.Instant
    ) -> Action {
        let isOld = now - times.opened >= limits.maxAge
        if use.running == 0 {
            let isUnused = now - times.lastUsed >= (use.grantsStreams ? limits.idleLifetime : limits.connectTimeout)
            if use.isRetired || isOld || isUnused { return .end }
        } else if use.isRetired, !use.hasWaiter {
            // What is left was given up, and the peer does not end it.
            return .end
        }
        if let sent = times.pingSentAt { return now - sent >= limits.pingTimeout ? .lost : .nothing }
        guard use.running > 0 else { return .nothing }
        if isOld, !use.isRetired { return .retire }
        // A peer that answers PINGs and no requests is asked less and less often.
        let interval = limits.pingInterval * (1 << min(times.pings, 4))
        return now - max(times.lastReceived, times.busySince) >= interval ? .ping : .nothing
    }

    /// Whether the answer to a PING takes so long that the connection may be lost: requests do not wait for it any more.
    static func isOverdue(_ times: ConnectionTimes, now: ContinuousClock.Instant) -> Bool {
        times.pingSentAt.map { now - $0 >= usualAnswer } ?? false
    }

    /// Whether an idle connection must answer a PING before it takes a request: the peer, or something between, may have forgotten it.
    static func isUncertain(_ times: ConnectionTimes, limits: HTTP2ClientConfiguration, now: ContinuousClock.Instant) -> Bool {
        times.pingSentAt == nil && now - times.lastReceived > limits.trustedSilence
    }
}
