/// The lines to one origin, and the exchanges that wait for one. Belongs to the loop's thread alone.
final class Pool {
    /// `https://host:port`, or empty for the one shared pool of a client that leaves connections to libcurl.
    let origin: [UInt8]
    var connections: [Connection] = []
    private(set) var waiting: [Exchange] = []
    private var next = 0

    init(origin: [UInt8]) { self.origin = origin }

    var hasWaiting: Bool { next < waiting.count }

    func add(_ exchange: Exchange) { waiting.append(exchange) }

    /// For what was taken out and not processed: it has waited longest.
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

    /// Takes out what is no longer to be sent.
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

    /// The connection with this local port takes no further requests.
    func retire(port: Int) {
        for connection in connections where connection.port == port { connection.isRetired = true }
    }

    /// Whether the URL begins with this origin.
    func serves(_ url: String) -> Bool {
        if origin.isEmpty { return true }
        let bytes = url.utf8
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
