import Foundation
import PushContract
import Synchronization
import TestSupport
import Testing

/// Posters that go on until they are stopped, each batch until it is acknowledged, with a journal of what was.
///
/// The load is bounded: after `limit` acknowledged batches a poster rests. A soak goes at a pace, so that its journal stays checkable.
final class PostingLoad: Sendable {
    private struct State {
        var url: String
        var isStopped = false
        var attempts: Set<String> = []
        var sends: Set<String> = []
        var refusals: [Int: Int] = [:]
        var resends = 0
        var slowest: Duration = .zero
        var repeated = 0
        var forgotten = 0
    }

    private let state: Mutex<State>
    private let prefix: String
    private let batchSize: Int
    private let sendsToo: Bool
    private let repeats: Bool
    private let limit: Int
    private let pause: Duration

    /// - Parameters:
    ///   - prefix: of all ids.
    ///   - repeats: each batch comes three times: as queued, as what it is, and once more.
    ///   - limit: batches of each poster at most.
    ///   - pause: after each batch.
    init(
        url: String,
        prefix: String = "p",
        batchSize: Int = 20,
        sendsToo: Bool = false,
        repeats: Bool = false,
        limit: Int? = nil,
        pause: Duration = .zero
    ) {
        state = Mutex(State(url: url))
        self.prefix = prefix
        self.batchSize = batchSize
        self.sendsToo = sendsToo
        self.repeats = repeats
        self.limit = limit ?? (Soak.minutes == nil ? 2_000 : 200_000)
        self.pause = pause
    }

    /// Ids whose storing was acknowledged.
    var attempts: Set<String> { state.withLock { $0.attempts } }
    var sends: Set<String> { state.withLock { $0.sends } }
    /// How often each status other than success came; 0 = no answer.
    var refusals: [Int: Int] { state.withLock { $0.refusals } }
    /// The longest that any request took, whatever its answer.
    var slowest: Duration { state.withLock { $0.slowest } }
    var resends: Int { state.withLock { $0.resends } }
    /// Attempts that came once more after they were acknowledged, and those of them that were not answered as duplicates.
    var repeated: Int { state.withLock { $0.repeated } }
    var forgotten: Int { state.withLock { $0.forgotten } }

    func move(to url: String) { state.withLock { $0.url = url } }
    func stop() { state.withLock { $0.isStopped = true } }

    /// Waits until so many more attempts than now are acknowledged.
    func progress(_ count: Int, within limit: Duration = .seconds(60)) async throws {
        let before = attempts.count
        try await eventually("\(count) more attempts acknowledged (have \(before))", within: limit) { attempts.count >= before + count }
    }

    /// Expects that nothing but 503, or no answer, was refused, and that so often at least.
    func expectUnavailable(atLeast least: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) {
        let refusals = refusals
        #expect(Set(refusals.keys).isSubset(of: [0, 503]), "\(refusals)", sourceLocation: sourceLocation)
        #expect(refusals.values.reduce(0, +) >= least, "\(refusals)", sourceLocation: sourceLocation)
    }

    /// Runs `posters` posters while `body` runs. What they are at when it ends is finished or given up, and acknowledged or not.
    func run<Value>(posters: Int, _ body: () async throws -> Value) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for poster in 0..<posters { group.addTask { try await self.post(poster) } }
            defer { stop() }
            let value = try await body()
            stop()
            try await group.waitForAll()
            return value
        }
    }

    private func post(_ poster: Int) async throws {
        for batch in 0..<limit where !state.withLock({ $0.isStopped }) {
            let name = "\(prefix)\(poster)-\(batch)"
            let ids = (0..<batchSize).map { "\(name)-\($0)" }
            let now = Timestamp.now()
            let body = ids.enumerated().map { index, id in
                SampleAttempt(id: id, at: now - .seconds(index * 7), reason: index % 10 == 0 ? "provider_5xx" : nil).json
            }
            if Soak.minutes != nil { try await Task.sleep(for: .milliseconds(30)) }
            if repeats, try await deliver("/attempts", body.map(queued), good: [200]) == nil { continue }
            if try await deliver("/attempts", body, good: [200]) != nil { state.withLock { $0.attempts.formUnion(ids) } }
            if repeats, let answer = try await deliver("/attempts", body, good: [200]) {
                state.withLock {
                    $0.repeated += batchSize
                    $0.forgotten += batchSize - answer.count("duplicate")
                }
            }
            if sendsToo, batch % 2 == 0, try await deliver("/sends", send(name), good: [200, 202]) != nil {
                state.withLock { _ = $0.sends.insert(name) }
            }
            if pause > .zero { try await Task.sleep(for: pause) }
        }
    }

    private func queued(_ attempt: [String: any Sendable]) -> [String: any Sendable] {
        attempt.merging(["status": "queued"]) { $1 }.filter { $0.key != "reasonCode" }
    }

    private func send(_ name: String) -> [String: any Sendable] {
        [
            "sendId": name, "token": String(repeating: "ab", count: 32), "provider": "apns", "environment": "sandbox",
            "app": "com.example.scores", "uid": "user-" + name, "title": "Kick-off",
        ]
    }

    /// Sends the same bytes until they are acknowledged; nil when the load ended before that.
    private func deliver(_ path: String, _ body: any Sendable, good: Set<Int>) async throws -> API.Answer? {
        let data = Array(try JSONSerialization.data(withJSONObject: body))
        for attempt in 0..<3_000 {
            let (url, isStopped) = state.withLock { ($0.url, $0.isStopped) }
            if isStopped && attempt > 0 { return nil }
            let api = API.shared(url)
            let start = ContinuousClock.now
            let answer = try? await api.call("POST", path, type: "application/json", body: data)
            state.withLock { $0.slowest = max($0.slowest, ContinuousClock.now - start) }
            if let answer, good.contains(answer.status) { return answer }
            state.withLock {
                $0.refusals[answer?.status ?? 0, default: 0] += 1
                $0.resends += 1
            }
            // Not in step with anything: the server is away, or says so.
            try await Task.sleep(for: .milliseconds(20))
        }
        throw NeverHappened(description: "POST \(path) was never acknowledged")
    }
}
