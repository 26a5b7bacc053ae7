import Foundation
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("pushwatch-dev bench, interrupted")
    struct BenchInterruptTests {
        struct Bench: CustomTestStringConvertible {
            var arguments: [String]
            var signal: Int32
            /// A line of its progress, after which it is interrupted.
            var progress: String
            /// What it has started by then, by its command line.
            var programs: [String]

            var testDescription: String { arguments[0] }
        }

        @Test(
            "SIGTERM and Ctrl-C end it with 130, and neither a process that it started nor a file stays behind",
            arguments: [
                Bench(arguments: ["live", "--quick"], signal: SIGINT, progress: "an update every", programs: ["postgres"]),
                Bench(
                    arguments: ["send", "--only", "end-to-end", "--connections", "1", "--sends", "1000"],
                    signal: SIGTERM,
                    progress: "as fast as they are taken",
                    programs: ["postgres", "simulate", "serve"]
                ),
                // Its load comes from threads.
                Bench(
                    arguments: ["overload", "--quick", "--idle", "1"],
                    signal: SIGTERM,
                    progress: "well-behaved senders alone",
                    programs: ["postgres", "serve"]
                ),
            ]
        )
        func interrupted(_ bench: Bench) async throws {
            // A directory of its own: what another bench left when it was killed is not this one's to remove.
            try await withTestDirectory { directory in
                let command = try RunningCommand(
                    ["bench"] + bench.arguments,
                    of: ServerProcess.devBinary,
                    temporaryDirectory: directory
                )
                try await eventually("it measures") { command.text.contains(bench.progress) }
                let files = { try FileManager.default.contentsOfDirectory(atPath: directory) }
                #expect(try files().contains { $0.hasPrefix("pushwatch_bench_") })
                let running = try Self.processes(in: directory)
                for program in bench.programs { #expect(running.contains { $0.contains(program) }, "\(program) of \(running)") }
                #expect(try await command.interrupt(by: bench.signal) == 130, "\(command.text)")
                #expect(command.text.contains("Stopped"))
                #expect(try files() == [], "its cluster is gone")
                #expect(try Self.processes(in: directory) == [])
            }
        }

        /// The command lines of the processes that work in this directory, as PostgreSQL does, or have it for temporary files.
        private static func processes(in directory: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int32($0) != nil }.compactMap { process in
                func text(_ file: String) -> String { (try? String(contentsOfFile: "/proc/\(process)/\(file)", encoding: .utf8)) ?? "" }
                let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")
                guard place?.hasPrefix(directory) == true || text("environ").contains("TMPDIR=\(directory)\0") else { return nil }
                return text("cmdline").replacingOccurrences(of: "\0", with: " ")
            }
        }

        @Test("the server of a bench ends on SIGTERM while its standard input is open")
        func server() async throws {
            try await withDatabaseURL { database in
                let input = Pipe()
                let server = try RunningCommand(
                    ["bench", "serve", "--database", database, "--key", UUID().uuidString],
                    of: ServerProcess.devBinary,
                    input: input
                )
                try await eventually("it listens") { server.text.contains("http://") }
                #expect(try await server.interrupt(by: SIGTERM) == 0, "\(server.text)")
                withExtendedLifetime(input) {}
            }
        }
    }
}
