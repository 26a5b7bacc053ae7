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
    }

    let program: String
    /// Where it posts.
    let url: String
    let caFile: String
    let token: String

    /// Throws when it fails, or when not all of its requests are accepted.
    func run(requests: Int, inFlight: Int) throws -> Slice {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = [
            url, caFile, token, SendLoad.app, "\(requests)", "\(inFlight)",
        ]
        process.standardOutput = output
        do { try process.run() } catch { throw CommandFailure.environment("\(program) does not start: \(error.localizedDescription)") }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0, let slice = try? JSONDecoder().decode(Slice.self, from: text) else {
            throw CommandFailure.environment(
                "\(program) ended with \(process.terminationStatus) and without its line {\"accepted\":…,\"seconds\":…,\"cpuSeconds\":…}."
            )
        }
        guard slice.accepted == requests else {
            throw CommandFailure.check("Of \(requests) requests of \(program) \(slice.accepted) were accepted.")
        }
        return slice
    }
}
