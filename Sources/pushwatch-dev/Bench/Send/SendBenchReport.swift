import CommandLineKit
import Foundation

/// What `pushwatch-dev bench send` measured.
struct SendBenchReport: Encodable, Sendable {
    /// From `POST /sends` to the durable attempt, over so many connections to the provider.
    struct EndToEnd: Encodable, Sendable {
        var connections: Int
        var perSecond: Double
        /// The rate of `bare` before and after it, without queue and rows.
        var barePerSecond: Double
        var ratio: Double
        /// The rate of another program that sends without queue and rows, where one was named.
        var otherPerSecond: Double?
        var otherPerCoreSecond: Double?
        /// By second of processor time of server and database, against those of the bare sender.
        var perCoreSecond: Double
        var barePerCoreSecond: Double
        /// Of each send, in microseconds of processor time.
        var serverMicroseconds: Double
        var postgresMicroseconds: Double?
        var simulatorMicroseconds: Double
        var loadMicroseconds: Double
        /// At half that rate.
        var pacedPerSecond: Double
        /// From the request that brought a send to the answer's being written.
        var p50Milliseconds: Double
        var p99Milliseconds: Double
    }

    struct Ceiling: Encodable, Sendable {
        /// Of the simulator, by its own processor time.
        var perCoreSecond: Double
        /// What nghttp2's h2load gets out of it, where it is installed.
        var h2loadPerSecond: Double?
    }

    var ceiling: Ceiling?
    var client: ClientBench.Report?
    var endToEnd: [EndToEnd] = []
    var drain: DrainBench.Report?

    var text: String {
        var parts: [String] = []
        if let client {
            parts.append("(1) the client alone, next to h2load\n" + client.table)
        }
        if let ceiling {
            var line = String(format: "the simulator answers %.0f requests a second of its processor time", ceiling.perCoreSecond)
            if let rate = ceiling.h2loadPerSecond { line += String(format: "; h2load gets %.0f a second out of it", rate) }
            parts.append(line)
        }
        if !endToEnd.isEmpty {
            parts.append("(2) POST /sends to the durable attempt, next to the provider's client without queue and rows\n" + table)
        }
        if let drain { parts.append("(3) draining a full queue\n" + drain.text) }
        return parts.joined(separator: "\n\n")
    }

    private var table: String {
        let head =
            "connections   sends/s    bare/s  ratio   µs a send: server  postgres  simulator  load    at half the rate: p50 ms   p99 ms"
        let rows = endToEnd.map { line in
            String(
                format: "%11d  %8.0f  %8.0f  %5.2f  %18.0f  %8.0f  %9.0f  %4.0f  %25.1f  %7.1f",
                line.connections,
                line.perSecond,
                line.barePerSecond,
                line.ratio,
                line.serverMicroseconds,
                line.postgresMicroseconds ?? 0,
                line.simulatorMicroseconds,
                line.loadMicroseconds,
                line.p50Milliseconds,
                line.p99Milliseconds
            )
        }
        let cores = endToEnd.map { line in
            String(
                format: "%11d  %.0f sends a core-second of server and database; the bare client %.0f a core-second",
                line.connections,
                line.perCoreSecond,
                line.barePerCoreSecond
            )
        }
        let others = endToEnd.compactMap { line -> String? in
            guard let rate = line.otherPerSecond, let perCore = line.otherPerCoreSecond else { return nil }
            return String(
                format:
                    "%11d  the other sender, without rows: %.0f a second, %.0f a core-second; by core-second, sends end to end ÷ it: %.2f, "
                    + "bare ÷ it: %.2f; by rate %.2f and %.2f",
                line.connections,
                rate,
                perCore,
                line.perCoreSecond / perCore,
                line.barePerCoreSecond / perCore,
                line.perSecond / rate,
                line.barePerSecond / rate
            )
        }
        return ([head] + rows + cores + others).joined(separator: "\n")
    }
}
