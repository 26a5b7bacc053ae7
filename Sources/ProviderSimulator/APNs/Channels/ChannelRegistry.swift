/// The broadcast channels of each app, as long as the simulator runs.
struct ChannelRegistry: Sendable {
    private var storage: [String: [String: SimulatedChannel]] = [:]

    func channel(_ id: String, of bundle: String) -> SimulatedChannel? { storage[bundle]?[id] }

    func count(of bundle: String) -> Int { storage[bundle]?.count ?? 0 }

    /// The ids, sorted.
    func ids(of bundle: String) -> [String] { storage[bundle]?.keys.sorted() ?? [] }

    mutating func add(_ channel: SimulatedChannel, id: String, of bundle: String) { storage[bundle, default: [:]][id] = channel }

    /// Whether it was there.
    mutating func remove(_ id: String, of bundle: String) -> Bool { storage[bundle]?.removeValue(forKey: id) != nil }

    /// As when the capability is switched off at Apple's developer site: every channel of the app is gone.
    mutating func removeAll(of bundle: String) { storage[bundle] = nil }
}

/// A broadcast channel as the simulator keeps it.
struct SimulatedChannel: Sendable, Hashable, Codable {
    /// 0: nothing is stored; 1: the newest message is.
    var storagePolicy: Int
    var pushType: String
}
