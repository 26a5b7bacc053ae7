import Foundation
import PushContract
import TestSupport
import Testing

extension WholeService {
    @Suite("pushwatch attempts tail")
    struct TailTests {
        private func lines(_ command: RunningCommand, with id: String) -> Int {
            command.text.split(separator: "\n").filter { $0.hasSuffix("  \(id)") }.count
        }

        @Test("--follow shows what is posted, once, also what comes days late and what comes after the database was away; Ctrl-C ends it")
        func follow() async throws {
            try await withScratchCluster { cluster in
                let server = try await ServerProcess.start(database: cluster.url, arguments: ["--migrate"])
                try await server.waitUntilReady()
                let now = Timestamp.now()
                func post(_ id: String, at: Timestamp, reason: String? = nil) async throws {
                    let attempt = SampleAttempt(id: id, at: at, reason: reason)
                    try await eventually("\(id) is taken") { (try? await server.api.post("/attempts", text: attempt.text))?.status == 201 }
                }
                try await post("before", at: now - .seconds(30))
                let tail = try RunningCommand(["attempts", "tail", "--follow"], settings: ["DATABASE_URL": cluster.url])
                let failures = try RunningCommand(
                    ["attempts", "tail", "--follow", "--reason", "network"],
                    settings: ["DATABASE_URL": cluster.url]
                )
                try await eventually("the newest line is there") { lines(tail, with: "before") == 1 }
                try await post("fresh", at: .now(), reason: "network")
                try await post("late", at: now - .seconds(5 * 86_400))
                try await eventually("both are shown") { lines(tail, with: "fresh") == 1 && lines(tail, with: "late") == 1 }

                cluster.crash()
                try await eventually("it says that it waits") { tail.text.contains("cannot be reached, waiting") }
                try await cluster.start()
                try await post("after", at: .now(), reason: "network")
                try await eventually("it goes on") { lines(tail, with: "after") == 1 && lines(failures, with: "after") == 1 }

                #expect(["before", "fresh", "late", "after"].map { lines(tail, with: $0) } == [1, 1, 1, 1], "\(tail.text)")
                #expect(["before", "fresh", "late", "after"].map { lines(failures, with: $0) } == [0, 1, 0, 1], "\(failures.text)")
                #expect(tail.text.contains("  network  ") && tail.text.contains("user-fresh"))
                let many = (0..<1_200).map { SampleAttempt(id: "many-\($0)", at: .now()) }
                let late = (0..<3).map { SampleAttempt(id: "many-late-\($0)", at: now - .seconds(5 * 86_400)) }
                #expect(try await server.api.post("/attempts", (many + late).map(\.json)).status == 200)
                try await eventually("it says that it leaves some out") { tail.text.contains("more than 1000 at once") }
                #expect(!failures.text.contains("more than 1000 at once"))
                #expect(tail.isRunning && failures.isRunning)
                _ = try await tail.interrupt()
                _ = try await failures.interrupt()
                _ = try await server.terminate()
            }
        }
    }
}
