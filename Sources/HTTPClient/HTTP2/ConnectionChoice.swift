/// The state of a connection from which the choice is made.
struct ConnectionState: Sendable, Hashable {
    /// It cannot be used yet, and may be soon.
    var isOpening = false
    /// It takes no further requests, ever.
    var isRetired = false
    /// It has not answered a PING in the usual time.
    var isOverdue = false
    /// It was idle, and must answer a PING before it takes requests.
    var isUncertain = false
    /// Requests that have a stream.
    var running = 0
    /// How many may have one: what the peer's SETTINGS allow at this moment, or fewer.
    var capacity = 0
}

/// Chooses the connection for the next request. A pure function.
///
/// A connection takes `spread` requests before the next one is opened, so that load is spread over several; when no more may be opened,
/// each takes what the peer allows. One connection is opened, or asked by PING, at a time.
enum ConnectionChoice: Sendable, Hashable {
    /// The connection for so many requests: another one, or another choice, would not be made before.
    case use(Int, upTo: Int)
    /// Ask this one by PING; it counts as being opened until it has answered.
    case ask(Int)
    case open
    /// No connection has capacity; wait.
    case wait

    struct Rules: Sendable, Hashable {
        var maxConnections = 16
        /// Requests at once on a connection before another is opened.
        var spread = 64
        /// How many more requests than another a connection may have: those that come at once leave in one write instead of one each.
        var lead = 16
    }

    static func pick(_ connections: some Sequence<ConnectionState>, rules: Rules) -> ConnectionChoice {
        var best: (index: Int, running: Int, capacity: Int)?
        /// Requests on the connection that comes after the best.
        var next: Int?
        var alive = 0
        var isOpening = false
        var isOverdue = false
        var uncertain: Int?
        for (index, connection) in connections.enumerated() where !connection.isRetired {
            alive += 1
            if connection.isUncertain {
                uncertain = uncertain ?? index
                continue
            }
            if connection.isOpening { isOpening = true }
            if connection.isOverdue { isOverdue = true }
            guard connection.running < connection.capacity else { continue }
            if let best, connection.running >= best.running {
                next = min(next ?? .max, connection.running)
            } else {
                next = best?.running
                best = (index, connection.running, connection.capacity)
            }
        }
        let most = next.map { $0 + rules.lead } ?? .max
        if let best, best.running < rules.spread {
            return .use(best.index, upTo: max(1, min(best.capacity, rules.spread, most) - best.running))
        }
        // Where one does not answer, others that were idle may not either.
        if let uncertain, !isOpening, !isOverdue || alive >= rules.maxConnections { return .ask(uncertain) }
        if alive < rules.maxConnections, !isOpening { return .open }
        return best.map { .use($0.index, upTo: max(1, min($0.capacity, most) - $0.running)) } ?? .wait
    }
}
