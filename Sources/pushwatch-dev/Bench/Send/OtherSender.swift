import CommandLineKit
import Foundation

/// Another program that sends alerts to the same server, without queue and rows: `Benchmarks/ahc-sender`, or one like it.
struct OtherSender {
    /// What such a program prints.
    struct Slice: Codable, Sendable {
        var accepted: Int
        var seconds: Double
        /// Of its own, user and system.
        var cpuSeconds: Double

        var perSecond: Double { Double(accepted) / max(0.001, seconds) }
        var perCoreSecond: Double { Double(accepted) / max(0.001, cpuSeconds) }

        mutating func add(_ other: Slice) {
            accepted += other.accepted
            seconds += other.seconds
            cpuSeconds += other.cpuSeconds
        }
    }

    let program: String
    /// Where it posts.
    let url: String
    let caFile: String
    let token: String

    /// Throws when it fails, or when not all of its requests are accepted.
    func run(requests: Int, inFlight: Int) async throws -> Slice {
        let process: BenchProcess
        do {
            process = try BenchProcess(program, arguments: [url, caFile, token, SendLoad.app, "\(requests)", "\(inFlight)"])
        } catch {
            throw CommandFailure.environment("\(program) does not start: \(error.localizedDescription)")
        }
        let output = try await process.output()
        let status = process.ended()
        guard status == 0, let slice = try? JSONDecoder().decode(Slice.self, from: output) else {
            throw CommandFailure.environment(
                "\(program) ended with \(status) and without its line {\"accepted\":…,\"seconds\":…,\"cpuSeconds\":…}."
            )
        }
        guard slice.accepted == requests else {
            throw CommandFailure.check("Of \(requests) requests of \(program) \(slice.accepted) were accepted.")
        }
        return slice
    }
}
