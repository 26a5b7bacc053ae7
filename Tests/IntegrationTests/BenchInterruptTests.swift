import Foundation
import TestSupport
import Testing

extension WholeService {
    @Suite("pushwatch-dev bench live, interrupted")
    struct BenchInterruptTests {
        @Test("Ctrl-C ends it with 130, and neither its PostgreSQL nor its files stay behind")
        func interrupted() async throws {
            // A directory of its own: what another bench left when it was killed is not this one's to remove.
            try await withTestDirectory { directory in
                let bench = try RunningCommand(
                    ["bench", "live", "--quick"],
                    of: ServerProcess.devBinary,
                    temporaryDirectory: directory
                )
                try await eventually("it measures") { bench.text.contains("an update every") }
                let files = { try FileManager.default.contentsOfDirectory(atPath: directory) }
                #expect(try files().contains { $0.hasPrefix("pushwatch_bench_") })
                #expect(try await bench.interrupt() == 130, "\(bench.text)")
                #expect(bench.text.contains("Stopped"))
                #expect(try files() == [], "its cluster is gone")
            }
        }
    }
}
