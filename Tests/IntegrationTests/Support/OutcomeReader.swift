import Postgres
import Synchronization
import TestSupport
import Testing

/// A client that follows `GET /sends/outcomes`, through restarts of the server: what failed is asked for again with the same cursor.
final class OutcomeReader: Sendable {
    private struct State {
        var url: String
        var isStopped = false
        var next = "0-0"
        /// Of all outcomes.
        var cursors: Set<String> = []
        var outcomes = 0
        /// Events `sent` by sendId.
        var sent: [String: Int] = [:]
    }

    private let state: Mutex<State>

    init(url: String) { state = Mutex(State(url: url)) }

    func move(to url: String) { state.withLock { $0.url = url } }

    /// Reads while `body` runs.
    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !self.isStopped {
                    // Not in step with anything: the server is away, or says so.
                    if try await self.read(wait: 1) == nil { try await Task.sleep(for: .milliseconds(20)) }
                }
            }
            defer { stop() }
            let value = try await body()
            stop()
            try await group.waitForAll()
            return value
        }
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func stop() { state.withLock { $0.isStopped = true } }

    /// Reads a page; how many outcomes it has, nil without an answer.
    private func read(wait: Int) async throws -> Int? {
        let (url, after) = state.withLock { ($0.url, $0.next) }
        let answer = try? await API.shared(url).get("/sends/outcomes?after=\(after)&limit=1000&wait=\(wait)")
        guard let answer, answer.status < 500 else { return nil }
        guard answer.status == 200, let next = answer[header: "x-next-cursor"] else {
            throw NeverHappened(description: "\(answer.status) after \(after): \(answer.text)")
        }
        let outcomes = answer.array("outcomes")
        let cursors = outcomes.compactMap { $0["cursor"] as? String }
        let sent = outcomes.filter { $0["event"] as? String == "sent" }.compactMap { $0["sendId"] as? String }
        state.withLock { state in
            state.next = next
            state.outcomes += cursors.count
            state.cursors.formUnion(cursors)
            for sendId in sent { state.sent[sendId, default: 0] += 1 }
        }
        return cursors.count
    }

    /// Reads to the end, and expects an event for each delivery of these sends that ended as sent, each once.
    func expectSentOnce(_ sends: Set<String>, on pool: PostgresPool) async throws {
        let ids = Array(sends)
        let rows = try await pool.query(
            """
            SELECT d.sendId, count(*) FROM unnest(\(ids)) AS i (id) JOIN pushDeliveries d ON d.sendId = i.id
            JOIN pushFinished f USING (deliveryId) WHERE f.outcome = 'sent' GROUP BY d.sendId
            """
        )
        let finished = Dictionary(uniqueKeysWithValues: try rows.map { try $0.decode((String, Int).self) })
        try await eventually("the outcomes of \(finished.count) sends are read") {
            guard try await read(wait: 0) == 0 else { return false }
            return state.withLock { state in finished.keys.allSatisfy { state.sent[$0] != nil } }
        }
        let (sent, outcomes, cursors) = state.withLock { ($0.sent, $0.outcomes, $0.cursors.count) }
        let wrong = finished.filter { sent[$0.key] != $0.value }.keys.sorted()
        #expect(wrong.isEmpty, "sends whose deliveries are not in the stream once")
        #expect(cursors == outcomes, "outcomes that were read more than once")
    }
}
