package import PushContract

/// A request as the simulator saw it, with what it answered.
package struct RecordedRequest: Sendable, Hashable, Codable {
    /// Counts from 1 since the simulator started.
    package var number: Int
    package var at: Timestamp
    package var provider: SimulatedProvider
    /// The sender's address and port: one per connection.
    package var connection: String
    package var method: String
    package var path: String
    /// The device token it was for, APNs tokens in lower case; nil when it named none.
    package var token: String?
    package var headers: [SimulatedResponse.Header]
    package var body: String
    /// nil: no answer was given (`reason` is then `hang` or `reset`).
    package var status: Int?
    package var reason: String?
    var answerHeaders: [SimulatedResponse.Header]
    var answerBody: String
    /// A fault rule decided.
    package var fault: Bool

    package func header(_ name: String) -> String? {
        headers.first { $0.name == name }?.value
    }

    package func answerHeader(_ name: String) -> String? {
        answerHeaders.first { $0.name == name }?.value
    }
}

/// The last requests and the counts of all: bounded, oldest dropped first.
struct RequestLog: Sendable {
    private let capacity: Int
    private var ring: [RecordedRequest] = []
    private var oldest = 0
    private(set) var total = 0
    private(set) var answers: [SimulatedProvider: [String: Int]] = [:]
    private var connections: [SimulatedProvider: Set<String>] = [:]

    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    mutating func add(_ request: RecordedRequest, label: String) {
        total += 1
        answers[request.provider, default: [:]][label, default: 0] += 1
        connections[request.provider, default: []].insert(request.connection)
        var numbered = request
        numbered.number = total
        if ring.count < capacity {
            ring.append(numbered)
        } else {
            ring[oldest] = numbered
            oldest = (oldest + 1) % capacity
        }
    }

    /// Oldest first.
    var kept: [RecordedRequest] {
        Array(ring[oldest...] + ring[..<oldest])
    }

    var statistics: SimulatorStatistics {
        let named = answers.map { ($0.key.rawValue, $0.value) }
        let counted = connections.map { ($0.key.rawValue, $0.value.count) }
        return SimulatorStatistics(
            total: total,
            kept: ring.count,
            answers: Dictionary(uniqueKeysWithValues: named),
            connections: Dictionary(uniqueKeysWithValues: counted)
        )
    }

    mutating func removeAll() {
        self = RequestLog(capacity: capacity)
    }
}

/// `GET /stats`.
package struct SimulatorStatistics: Sendable, Hashable, Codable {
    /// Requests since the start, or since `DELETE /requests`.
    package var total: Int
    /// How many of them can still be read.
    package var kept: Int
    /// By provider, then by answer: `200`, `410 Unregistered`, `hang`.
    package var answers: [String: [String: Int]]
    /// Distinct connections that carried requests, by provider.
    package var connections: [String: Int]

    /// How often a provider gave an answer.
    package func count(_ provider: SimulatedProvider, _ label: String) -> Int {
        answers[provider.rawValue]?[label] ?? 0
    }
}
