import CommandLineKit
import Foundation
import HTTPClient

/// `HTTP2Client` next to h2load, and to another program where one is named, against the same server in turns, by the processor time each of
/// them takes.
struct ClientBench {
    /// Who sends.
    enum Sender: String, CaseIterable, Encodable, Sendable {
        /// nghttp2's load generator in C, the fastest client there is, on one thread.
        case h2load
        /// The client, with requests handed over in blocks.
        case blocks
        /// The client, with a task for each request under way.
        case tasks
        /// Another program.
        case other

        var text: String {
            switch self {
            case .h2load: "h2load, one thread"
            case .blocks: "HTTP2Client, blocks of 32"
            case .tasks: "HTTP2Client, a task each"
            case .other: "the other program"
            }
        }
    }

    var url: String
    var caFile: String?
    var requests: Int
    var inFlight: Int
    var connections: Int
    var rounds: Int
    /// The provider token; by default of usual length, for servers that do not read it.
    let token: String
    private let authorization: String
    /// A program to compare with, called as `Benchmarks/ahc-sender` is.
    var compareWith: String?

    init(
        url: String,
        caFile: String?,
        requests: Int,
        inFlight: Int,
        connections: Int,
        rounds: Int,
        token: String = String(repeating: "j", count: 191),
        compareWith: String?
    ) {
        self.url = url
        self.caFile = caFile
        self.requests = requests
        self.inFlight = inFlight
        self.connections = connections
        self.rounds = rounds
        self.token = token
        self.compareWith = compareWith
        authorization = "bearer " + token
    }

    /// Those of a push of usual size.
    static func headers(authorization: String, id: String) -> HeaderFields {
        var headers: HeaderFields = [
            ("authorization", authorization), ("apns-topic", "com.example.app"), ("apns-push-type", "alert"), ("apns-priority", "10"),
            ("apns-expiration", "0"),
        ]
        headers.append("apns-id", id, isUnique: true)
        return headers
    }
    static let body = Array(#"{"aps":{"alert":{"title":"Goal","body":"\#(String(repeating: "x", count: 160))"}}}"#.utf8)

    /// In turns, so that what else the machine does hits all of them.
    func run(openLoop rates: [Int] = []) async throws -> Report {
        var report = Report(url: url, inFlight: inFlight, connections: connections)
        for round in 1...rounds {
            Terminal.note("the client and h2load, in turns: round \(round) of \(rounds)")
            for sender in Sender.allCases {
                if let slice = try await slice(of: sender) { report.slices[sender.rawValue, default: []].append(slice) }
            }
        }
        for rate in rates {
            Terminal.note("open loop, \(rate) requests a second")
            report.openLoop[rate] = try await openLoop(rate)
        }
        return report
    }

    private func slice(of sender: Sender) async throws -> Slice? {
        switch sender {
        case .h2load:
            return try await H2Load(url: url, token: token).run(requests: requests, inFlight: inFlight, connections: connections)
        case .blocks: return try await measured { await blocks($0, requests) }
        case .tasks: return try await measured { await tasks($0) }
        case .other:
            guard let compareWith else { return nil }
            let other = OtherSender(program: compareWith, url: url, caFile: caFile ?? "", token: token)
            let slice = try await other.run(requests: requests, inFlight: inFlight)
            return Slice(perCoreSecond: slice.perCoreSecond, perSecond: slice.perSecond, failed: 0)
        }
    }

    private func measured(_ body: (HTTP2Client) async -> (Int, String?)) async throws -> Slice {
        let client = client()
        defer { client.shutdown() }
        // The connections are there before the clock runs.
        _ = await blocks(client, connections * 4)
        let meter = Meter()
        let (answered, failure) = await body(client)
        try Task.checkCancellation()
        return meter.slice(answered: answered, failed: requests - answered, failure: failure)
    }

    private func client() -> HTTP2Client {
        var configuration = HTTP2ClientConfiguration()
        configuration.pool = "bench"
        configuration.caFile = caFile
        configuration.maxConnectionsPerHost = connections
        configuration.maxStreamsPerConnection = max(1, inFlight / connections)
        configuration.streamsBeforeNextConnection = max(1, inFlight / connections)
        return HTTP2Client(configuration: configuration)
    }

    private func request(_ number: Int) -> OutboundRequest {
        let id = "0f0f0f0f-0f0f-8f0f-8f0f-" + String(0x1f0f_0000_0000 + number, radix: 16)
        return OutboundRequest(url: url, headers: ClientBench.headers(authorization: authorization, id: id), body: ClientBench.body)
    }

    /// So many under way at all times, in blocks: as many as were answered are handed over next.
    private func blocks(_ client: HTTP2Client, _ requests: Int) async -> (Int, String?) {
        let tally = BlockTally(total: requests)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                @Sendable func submit(_ wanted: Int) {
                    let numbers = tally.take(wanted)
                    guard !numbers.isEmpty else {
                        if let result = tally.takeResult() { waiter.resume(returning: result) }
                        return
                    }
                    client.send(numbers.map(request)) { completions in
                        tally.note(completions)
                        submit(completions.count)
                    }
                }
                for _ in 0..<max(1, inFlight / 32) { submit(min(32, inFlight)) }
            }
        } onCancel: {
            tally.stop()
        }
    }

    private func tasks(_ client: HTTP2Client) async -> (Int, String?) {
        await withTaskGroup(of: (Int, String?).self) { group in
            for slot in 0..<inFlight {
                let share = requests / inFlight + (slot < requests % inFlight ? 1 : 0)
                group.addTask { await send(share, from: slot * requests, through: client) }
            }
            return await group.reduce(into: (0, nil)) { sum, part in sum = (sum.0 + part.0, sum.1 ?? part.1) }
        }
    }

    /// One after the other; how many were answered with 200, and the first failure.
    private func send(_ count: Int, from first: Int, through client: HTTP2Client) async -> (Int, String?) {
        var answered = 0
        var failure: String?
        for number in first..<first + count where !Task.isCancelled {
            do throws(OutboundFailure) {
                let response = try await client.send(request(number))
                if response.status == 200 { answered += 1 } else { failure = failure ?? "status \(response.status)" }
            } catch {
                failure = failure ?? error.description
            }
        }
        return (answered, failure)
    }

    /// A task for each request, begun evenly. The figure includes the making of requests and tasks.
    private func openLoop(_ rate: Int) async throws -> Double {
        let client = client()
        defer { client.shutdown() }
        _ = await blocks(client, connections * 4)
        let meter = Meter()
        let start = ContinuousClock.now
        let answered = await withTaskGroup(of: Bool.self) { group in
            var sent = 0
            for tick in 0..<3000 where !Task.isCancelled {
                let due = (tick + 1) * rate / 1000
                for number in sent..<due {
                    group.addTask { (try? await client.send(request(number)))?.status == 200 }
                }
                sent = due
                try? await Task.sleep(until: start + .milliseconds(tick + 1), clock: .continuous)
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        try Task.checkCancellation()
        return 1e6 / meter.slice(answered: answered, failed: 0, failure: nil).perCoreSecond
    }
}
