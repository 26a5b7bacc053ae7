import Foundation
import HTTPClient

/// nghttp2's load generator, the fastest client there is: what it gets out of a server is that server's ceiling.
struct H2Load {
    let url: String
    let token: String

    /// One run on one thread; nil where it is not installed or made nothing of it.
    func run(requests: Int, inFlight: Int, connections: Int) async throws -> ClientBench.Slice? {
        let body = NSTemporaryDirectory() + "pushwatch_bench_h2load_\(getpid())"
        try Data(ClientBench.body).write(to: URL(fileURLWithPath: body))
        defer { try? FileManager.default.removeItem(atPath: body) }
        let headers = ClientBench.headers(authorization: "bearer " + token, id: "0f0f0f0f-0f0f-8f0f-8f0f-0f0f0f0f0f0f").flatMap {
            ["-H", "\($0.name): \($0.value)"]
        }
        let load = ["-t", "1", "-n", "\(requests)", "-c", "\(connections)", "-m", "\(max(1, inFlight / connections))", "-d", body]
        let before = Meter.processorSeconds(RUSAGE_CHILDREN)
        guard let process = try? BenchProcess("/usr/bin/env", arguments: ["h2load"] + load + headers + [url], isQuiet: true) else {
            return nil
        }
        let text = String(decoding: try await process.output(), as: UTF8.self)
        guard process.ended() == 0, text.contains("\(requests) succeeded") else { return nil }
        // finished in 2.41s, 20746.89 req/s, 3.10MB/s
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("finished in") }),
            let rate = line.split(separator: ", ").first(where: { $0.hasSuffix("req/s") }).flatMap({ Double($0.dropLast(6)) })
        else { return nil }
        let spent = Meter.processorSeconds(RUSAGE_CHILDREN) - before
        return ClientBench.Slice(perCoreSecond: Double(requests) / max(0.001, spent), perSecond: rate, failed: 0)
    }
}
