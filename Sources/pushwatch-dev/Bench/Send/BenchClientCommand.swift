import ArgumentParser
import CommandLineKit
import Foundation
import HTTPServer
import Logging

/// `pushwatch-dev bench client`
struct BenchClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "The HTTP/2 client alone against a bare libcurl loop in C, on the same server.",
        discussion: """
            Any HTTP/2 server that answers a POST with 200 will do; the load is a push of usual size. For instance:
              nghttpd --echo-upload -d /srv/www 18443 key.pem cert.pem     (with a file /srv/www/3/device/token)
              pushwatch-dev bench client --url https://127.0.0.1:18443/3/device/token --ca-file cert.pem
            Both run in this process, in turns, and are compared by the processor time they take, so the server's own speed matters little.
            Build with `swift build -c release` first.
            """
    )

    @Option(help: "Where to POST.") var url: String
    @Option(help: "PEM file of the authority to trust; default: the system's.") var caFile: String?
    @Option(help: "Requests of each turn.") var requests = 50_000
    @Option(help: "Requests under way at once.") var inFlight = 100
    @Option(help: "Connections to spread them over.") var connections = 1
    @Option(help: "Turns of each.") var rounds = 3
    @Flag(help: "Print the report as JSON.") var json = false

    func validate() throws {
        guard url.hasPrefix("https://") else { throw ValidationError("--url must begin with https://.") }
        guard requests > 0, inFlight > 0, connections > 0, rounds > 0, inFlight >= connections else {
            throw ValidationError("Numbers must be 1 or more, and --in-flight at least --connections.")
        }
    }

    func run() async throws {
        LogBootstrap.bootstrap(level: .error)
        let bench = ClientBench(
            url: url,
            caFile: caFile,
            requests: requests,
            inFlight: inFlight,
            connections: connections,
            rounds: rounds
        )
        let report = try await bench.run()
        if json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            Terminal.printLine(String(decoding: try encoder.encode(report), as: UTF8.self))
        } else {
            Terminal.printLine(report.table)
        }
        if (report.bare + report.client).contains(where: { $0.failed > 0 }) { throw ExitCode(1) }
    }
}
