import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL

/// Sends alerts to one address, as APNSwift does it: a payload encoded for each, one shared client, so many tasks.
///
/// usage: ahc-sender URL CA_FILE PROVIDER_TOKEN TOPIC REQUESTS IN_FLIGHT; prints {"accepted": …, "seconds": …, "cpuSeconds": …}
@main
struct Sender {
    struct Payload: Encodable {
        struct APS: Encodable {
            struct Alert: Encodable {
                var title: String
                var body: String
            }
            var alert: Alert
        }
        var aps: APS
    }

    struct Report: Encodable {
        var accepted: Int
        var seconds: Double
        var cpuSeconds: Double
    }

    static let body = String(repeating: "x", count: 120)

    let client: HTTPClient
    let url: String
    let providerToken: String
    let topic: String

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 7, let requests = Int(arguments[5]), let inFlight = Int(arguments[6]), inFlight > 0 else {
            FileHandle.standardError.write(Data("usage: ahc-sender URL CA_FILE PROVIDER_TOKEN TOPIC REQUESTS IN_FLIGHT\n".utf8))
            exit(64)
        }
        var configuration = HTTPClient.Configuration()
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(arguments[2])
        configuration.tlsConfiguration = tls
        configuration.httpVersion = .automatic
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let sender = Sender(client: client, url: arguments[1], providerToken: arguments[3], topic: arguments[4])
        // The connection is there before the clock runs.
        _ = try await sender.send(inFlight, inFlight: inFlight)
        let (start, processor) = (ContinuousClock.now, processorSeconds())
        let accepted = try await sender.send(requests, inFlight: inFlight)
        let took = (ContinuousClock.now - start) / .seconds(1)
        let report = Report(accepted: accepted, seconds: took, cpuSeconds: processorSeconds() - processor)
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(report))
        try await client.shutdown()
    }

    private func send(_ requests: Int, inFlight: Int) async throws -> Int {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for slot in 0..<inFlight {
                let share = requests / inFlight + (slot < requests % inFlight ? 1 : 0)
                group.addTask {
                    var accepted = 0
                    let encoder = JSONEncoder()
                    for _ in 0..<share where try await send(encoder) { accepted += 1 }
                    return accepted
                }
            }
            return try await group.reduce(0, +)
        }
    }

    private func send(_ encoder: JSONEncoder) async throws -> Bool {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers = [
            "apns-push-type": "alert", "apns-topic": topic, "apns-priority": "10", "apns-expiration": "0",
            "content-type": "application/json",
            "user-agent": "ahc-sender", "authorization": "bearer \(providerToken)",
        ]
        let payload = Payload(aps: .init(alert: .init(title: "Goal", body: Sender.body)))
        request.body = .bytes(ByteBuffer(bytes: try encoder.encode(payload)))
        let response = try await client.execute(request, timeout: .seconds(30))
        _ = try await response.body.collect(upTo: 4096)
        return response.status == .ok
    }

    /// Of this process, user and system.
    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
