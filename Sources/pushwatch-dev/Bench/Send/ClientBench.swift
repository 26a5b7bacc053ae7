import CCurlLoop
import CommandLineKit
import Foundation
import HTTPClient
import Logging

/// `CurlHTTP` and a bare libcurl loop in C against the same server, in turns, by the processor time each of them takes.
struct ClientBench {
    var url: String
    var caFile: String?
    var requests: Int
    var inFlight: Int
    var connections: Int
    var rounds: Int
    var headers = ClientBench.headers(authorization: "bearer " + String(repeating: "j", count: 200))

    struct Slice: Encodable, Sendable {
        /// Answered requests by second of processor time of this process.
        var perCoreSecond: Double
        var perSecond: Double
        var failed: Int
        var failure: String?
    }

    struct Report: Encodable, Sendable {
        var url: String
        var inFlight: Int
        var connections: Int
        var bare: [Slice] = []
        var client: [Slice] = []

        /// Requests per core-second of the client to those of the bare loop, means of all rounds.
        var ratio: Double { mean(client) / max(1, mean(bare)) }

        var table: String {
            let failed = (bare + client).reduce(0) { $0 + $1.failed }
            let lines = [
                "\(url), \(inFlight) in flight, \(connections) connections",
                line("bare C libcurl loop", bare), line("CurlHTTP", client), "ratio by core-second    \(String(format: "%.3f", ratio))",
            ]
            let failure = (bare + client).compactMap(\.failure).first
            return (lines + (failed > 0 ? ["\(failed) requests failed: \(failure ?? "")"] : [])).joined(separator: "\n")
        }

        private func line(_ name: String, _ slices: [Slice]) -> String {
            let rate = slices.reduce(0) { $0 + $1.perSecond } / Double(max(1, slices.count))
            let padded = name + String(repeating: " ", count: max(0, 22 - name.count))
            return padded + String(format: "%8.0f requests a core-second, %8.0f a second", mean(slices), rate)
        }

        private func mean(_ slices: [Slice]) -> Double { slices.reduce(0) { $0 + $1.perCoreSecond } / Double(max(1, slices.count)) }
    }

    /// Those of a push of usual size.
    static func headers(authorization: String) -> [(String, String)] {
        [
            ("authorization", authorization), ("apns-topic", "com.example.app"), ("apns-push-type", "alert"), ("apns-priority", "10"),
            ("apns-id", "0f0f0f0f-0f0f-8f0f-8f0f-0f0f0f0f0f0f"),
        ]
    }
    static let body = Array(#"{"aps":{"alert":{"title":"Goal","body":"\#(String(repeating: "x", count: 120))"}}}"#.utf8)

    /// In turns, so that what else the machine does hits both.
    func run() async throws -> Report {
        var report = Report(url: url, inFlight: inFlight, connections: connections)
        for _ in 0..<rounds {
            report.bare.append(try bare())
            report.client.append(await client())
        }
        return report
    }

    private func bare() throws -> Slice {
        let lines = headers.map { strdup("\($0.0): \($0.1)") } + [strdup("Content-Type:")]
        defer { for line in lines { free(line) } }
        let pointers = lines.map { UnsafePointer($0) }
        let ca = caFile.map { strdup($0) }
        defer { free(ca ?? nil) }
        var outcome = pw_loop_outcome()
        let meter = Meter()
        let status = pointers.withUnsafeBufferPointer { headers in
            ClientBench.body.withUnsafeBytes { body in
                url.withCString { url in
                    var plan = pw_loop_plan(
                        url: url,
                        caFile: ca.map { UnsafePointer($0) } ?? nil,
                        headers: headers.baseAddress,
                        headerCount: Int32(headers.count),
                        body: body.baseAddress?.assumingMemoryBound(to: CChar.self),
                        bodyLength: body.count,
                        requests: requests,
                        inFlight: inFlight,
                        connections: connections,
                        streams: max(1, inFlight / connections)
                    )
                    return pw_curl_loop(&plan, &outcome)
                }
            }
        }
        guard status == 0 else { throw CommandFailure.environment("libcurl could not be set up.") }
        let failure = withUnsafeBytes(of: outcome.failure) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return meter.slice(answered: outcome.answered, failed: outcome.failed, failure: failure.isEmpty ? nil : failure)
    }

    private func client() async -> Slice {
        var configuration = CurlClientConfiguration()
        configuration.pool = "bench"
        configuration.httpVersion = .http2Required
        configuration.caFile = caFile
        configuration.maxConnectionsPerHost = connections
        configuration.maxStreamsPerConnection = max(1, inFlight / connections)
        configuration.streamsBeforeNextConnection = max(1, inFlight / connections)
        let client = CurlClient(configuration: configuration, logger: Logger(label: "bench"))
        defer { client.shutdown() }
        let meter = Meter()
        let tallies = await withTaskGroup(of: (Int, String?).self) { group in
            for slot in 0..<inFlight {
                let share = requests / inFlight + (slot < requests % inFlight ? 1 : 0)
                group.addTask { await send(share, through: client) }
            }
            return await group.reduce(into: [(Int, String?)]()) { $0.append($1) }
        }
        let answered = tallies.reduce(0) { $0 + $1.0 }
        return meter.slice(answered: answered, failed: requests - answered, failure: tallies.lazy.compactMap(\.1).first)
    }

    /// One after the other; how many were answered with 200, and the first failure.
    private func send(_ count: Int, through client: CurlClient) async -> (Int, String?) {
        var answered = 0
        var failure: String?
        for _ in 0..<count {
            do throws(OutboundFailure) {
                let response = try await client.send(OutboundRequest(url: url, headers: headers, body: ClientBench.body))
                if response.status == 200 { answered += 1 } else { failure = failure ?? "status \(response.status)" }
            } catch {
                failure = failure ?? error.description
            }
        }
        return (answered, failure)
    }
}

/// Processor and wall time since it was made.
struct Meter {
    private let processor = Meter.processorSeconds
    private let started = ContinuousClock.now

    func slice(answered: Int, failed: Int, failure: String?) -> ClientBench.Slice {
        let wall = ContinuousClock.now - started
        let seconds = Double(wall.components.seconds) + Double(wall.components.attoseconds) / 1e18
        return ClientBench.Slice(
            perCoreSecond: Double(answered) / max(0.001, Meter.processorSeconds - processor),
            perSecond: Double(answered) / max(0.001, seconds),
            failed: failed,
            failure: failure
        )
    }

    private static var processorSeconds: Double {
        var use = rusage()
        getrusage(0, &use)
        let micros = Double(use.ru_utime.tv_usec + use.ru_stime.tv_usec)
        return Double(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + micros / 1e6
    }
}
