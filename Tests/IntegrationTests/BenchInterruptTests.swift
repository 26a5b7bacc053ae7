import Foundation
import Testing

extension WholeService {
    @Suite("pushwatch-dev bench live, interrupted")
    struct BenchInterruptTests {
        @Test("Ctrl-C ends it with 130, and neither its PostgreSQL nor its files stay behind")
        func interrupted() async throws {
            let bench = try RunningCommand(["bench", "live", "--quick"], of: ServerProcess.devBinary)
            try await eventually("it measures") { bench.text.contains("an update every") }
            let scratch = try #require(scratchDirectories().first { !$0.isEmpty })
            #expect(try await bench.interrupt() == 130, "\(bench.text)")
            #expect(bench.text.contains("Stopped"))
            #expect(!FileManager.default.fileExists(atPath: scratch), "its cluster is gone")
        }

        private func scratchDirectories() -> [String] {
            let directory = NSTemporaryDirectory()
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            return names.filter { $0.hasPrefix("pushwatch_bench_") }.map { directory + "/" + $0 }
        }
    }
}
