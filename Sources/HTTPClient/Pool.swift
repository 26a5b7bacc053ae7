/// The connections to one origin (or of one group, where libcurl manages them), and the exchanges that wait for one. Used on the loop's thread only.
final class Pool {
    /// `https://host:port`, or empty where libcurl manages the connections.
    let origin: [UInt8]
    /// Whose requests it takes, where libcurl manages the connections.
    let group: String
    var connections: [Connection] = []
    private(set) var waiting: [Exchange] = []
    private var next = 0

    init(origin: [UInt8], group: String = "") {
        self.origin = origin
        self.group = group
    }

    var hasWaiting: Bool { next < waiting.count }

    func add(_ exchange: Exchange) { waiting.append(exchange) }

    /// Puts a request that was not processed back at the front: it has waited longest.
    func addFirst(_ exchange: Exchange) {
        if next > 0 {
            next -= 1
            waiting[next] = exchange
        } else {
            waiting.insert(exchange, at: 0)
        }
    }

    func takeNext() -> Exchange? {
        guard next < waiting.count else { return nil }
        defer {
            next += 1
            if next == waiting.count {
                waiting.removeAll(keepingCapacity: true)
                next = 0
            } else if next > 4096 {
                waiting.removeFirst(next)
                next = 0
            }
        }
        return waiting[next]
    }

    /// Removes an exchange that must not be sent any more.
    func remove(where isOver: (Exchange) -> Bool) -> [Exchange] {
        var kept: [Exchange] = []
        var removed: [Exchange] = []
        for exchange in waiting[next...] {
            if isOver(exchange) { removed.append(exchange) } else { kept.append(exchange) }
        }
        waiting = kept
        next = 0
        return removed
    }

    /// Retires the connection with this local port: it accepts no further requests.
    func retire(port: Int) {
        for connection in connections where connection.port == port { connection.isRetired = true }
    }

    /// Whether the request belongs here: by its group, or by the origin that its URL begins with.
    func serves(_ request: OutboundRequest) -> Bool {
        if origin.isEmpty { return request.connectionGroup == group }
        let bytes = request.url.utf8
        guard bytes.starts(with: origin) else { return false }
        return bytes.dropFirst(origin.count).first.map { $0 == UInt8(ascii: "/") } ?? true
    }

    /// Scheme, host and port of a URL.
    static func origin(of url: String) -> [UInt8] {
        var slashes = 0
        return Array(
            url.utf8.prefix { byte in
                if byte == UInt8(ascii: "/") { slashes += 1 }
                return slashes < 3
            }
        )
    }
}
