/// The state of a connection from which the choice is made.
struct ConnectionState: Sendable, Hashable {
    var running = 0
    /// Those of them that have no stream yet.
    var unissued = 0
    var isAuthorized = false
    var isRetired = false
    var port = 0
}

/// Chooses the connection for the next request. A pure function.
///
/// A connection takes `spread` requests before the next one is opened, so that load is spread over several; when no more may be opened,
/// each takes what the peer allows. A request that found no free stream shows what the peer's SETTINGS allow at the moment, lowered or
/// raised, so a connection with one waiting gets no other. One connection is opened at a time. Where the peer wants to see one authorised
/// request first, a new connection gets one, and counts as being opened until that is answered.
enum ConnectionChoice: Sendable, Hashable {
    case use(Int)
    case open
    /// No connection has capacity; wait.
    case wait

    struct Rules: Sendable, Hashable {
        var maxConnections = 16
        var maxStreams = 1000
        /// Requests at once on a connection before another is opened.
        var spread = 64
        var startsWithOneStream = false
    }

    static func pick(_ connections: [ConnectionState], rules: Rules) -> ConnectionChoice {
        var best: Int?
        var alive = 0
        var isOpening = false
        for (index, connection) in connections.enumerated() where !connection.isRetired {
            alive += 1
            if rules.startsWithOneStream ? !connection.isAuthorized : connection.port == 0 { isOpening = true }
            guard hasCapacity(connection, rules) else { continue }
            if let found = best, connections[found].running <= connection.running { continue }
            best = index
        }
        if let best, connections[best].running < rules.spread { return .use(best) }
        if alive < rules.maxConnections, !isOpening { return .open }
        return best.map(ConnectionChoice.use) ?? .wait
    }

    private static func hasCapacity(_ connection: ConnectionState, _ rules: Rules) -> Bool {
        if connection.isAuthorized { return connection.running < rules.maxStreams && connection.unissued == 0 }
        return connection.running < (rules.startsWithOneStream ? 1 : min(rules.spread, rules.maxStreams))
    }
}
