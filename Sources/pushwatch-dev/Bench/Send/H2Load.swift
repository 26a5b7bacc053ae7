import Foundation

/// nghttp2's load generator, the fastest client there is: what it gets out of a server is that server's ceiling.
struct H2Load {
    let url: String
    let token: String
    let directory: String

    /// Requests a second; nil where it is not installed or made nothing of it.
    func run(requests: Int) throws -> Double? {
        let body = directory + "/h2load-body.json"
        try Data(ClientBench.body).write(to: URL(fileURLWithPath: body))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let headers = ClientBench.headers(authorization: "bearer " + token).flatMap { ["-H", "\($0.0): \($0.1)"] }
        process.arguments = ["h2load", "-n", "\(requests)", "-c", "4", "-m", "100", "-d", body] + headers + [url]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return nil }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard text.contains("\(requests) succeeded") else { return nil }
        // finished in 2.41s, 20746.89 req/s, 3.10MB/s
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("finished in") }) else { return nil }
        return line.split(separator: ", ").first { $0.hasSuffix("req/s") }.flatMap { Double($0.dropLast(6)) }
    }
}
