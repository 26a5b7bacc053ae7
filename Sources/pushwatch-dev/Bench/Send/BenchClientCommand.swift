import ArgumentParser
import CommandLineKit
import HTTPServer
import Logging

/// `pushwatch-dev bench client`
struct BenchClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "The HTTP/2 client alone next to h2load, on the same server.",
        discussion: """
            Any HTTP/2 server that answers a POST with 200 will do; the load is a push of usual size. For instance, with a file \
            /srv/www/3/device/token:

              nghttpd -d /srv/www 18443 key.pem cert.pem
              pushwatch-dev bench client --ca-file cert.pem \\
                --url https://127.0.0.1:18443/3/device/token

            All run in turns, and are compared by the processor time they take, so that the server's own speed matters little; but a \
            server that writes each answer by itself makes every client read each by itself, so that a figure without its server says \
            nothing. h2load is in Debian's package nghttp2-client, nghttpd in nghttp2-server. Build with `swift build -c release` first.
            """
    )

    @Option(help: "Where to POST.") var url: String
    @Option(help: "PEM file of the authority to trust; default: the system's.") var caFile: String?
    @Option(help: "Requests of each turn.") var requests = 50_000
    @Option(help: "Requests under way at once.") var inFlight = 256
    @Option(help: "Connections to spread them over.") var connections = 1
    @Option(help: "Turns of each.") var rounds = 7
    @Option(name: .long, parsing: .upToNextOption, help: "Also requests evenly at so many a second, three seconds each.")
    var openLoop: [Int] = []
    @Option(help: "A program to compare with, called as `make bench-compare` calls its own.") var compareWith: String?
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
            rounds: rounds,
            compareWith: compareWith
        )
        let report = try await BenchCommand.untilInterrupted { [openLoop] in try await bench.run(openLoop: openLoop) }
        if json { try Terminal.printLine(json: report) } else { Terminal.printLine(report.table) }
        if report.failed > 0 { throw ExitCode(1) }
    }
}
