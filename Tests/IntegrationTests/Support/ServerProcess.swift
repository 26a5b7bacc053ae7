import Foundation
import Synchronization
import TestSupport

/// `pushwatch serve` as a process of its own, which can be killed.
final class ServerProcess: Sendable {
    private struct State {
        var log = ""
        var url: String?
        var exitCode: Int32?
    }

    let api: API
    private let process: Process
    private let watch: Watch

    /// What the callbacks of the process write to; outlives the object while they run.
    private final class Watch: Sendable {
        let state = Mutex(State())

        func read(_ data: Data) {
            state.withLock { state in
                state.log += String(decoding: data, as: UTF8.self)
                guard state.url == nil, let line = state.log.split(separator: "\n").first(where: { $0.contains("listening url=") }),
                    let place = line.range(of: "http://127.0.0.1:"), state.log.hasSuffix("\n")
                else { return }
                state.url = "http://127.0.0.1:" + line[place.upperBound...].prefix(while: \.isNumber)
            }
        }
    }

    /// `pushwatch`, next to the test bundle.
    static let binary = program("pushwatch")
    /// `pushwatch-dev`, next to the test bundle.
    static let devBinary = program("pushwatch-dev")

    private static func program(_ name: String) -> String {
        Bundle.main.executableURL!.deletingLastPathComponent().appendingPathComponent(name).path
    }

    /// Starts a server and waits until it listens. `settings` are environment names without `PUSHWATCH_`.
    ///
    /// - Parameter limits: options of prlimit(1), such as `--nofile=256`.
    static func start(
        database: String,
        settings: [String: String] = [:],
        arguments: [String] = [],
        limits: [String] = []
    ) async throws -> ServerProcess {
        let process = Process()
        // prlimit replaces itself by the program, so signals reach the server.
        process.executableURL = URL(fileURLWithPath: limits.isEmpty ? binary : "/usr/bin/prlimit")
        process.arguments = (limits.isEmpty ? [] : limits + [binary]) + ["serve"] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: ProjectDirectory.root)
        var environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "", "TMPDIR": NSTemporaryDirectory()]
        let own = [
            "DATABASE_URL": database, "BOOTSTRAP_KEY": RunningServer.bootstrapKey, "HTTP_PORT": "0",
            "PUBLIC_URL": "http://127.0.0.1", "LOG_FORMAT": "text", "SENDS_RETRY_BASE_SECONDS": "1", "TOKEN_KEYS": TestTokenKeys.file,
        ]
        for (name, value) in own.merging(settings, uniquingKeysWith: { $1 }) { environment["PUSHWATCH_" + name] = value }
        process.environment = environment
        let pipe = Pipe()
        process.standardError = pipe
        process.standardOutput = FileHandle.nullDevice
        let watch = Watch()
        pipe.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            if data.isEmpty { handle.readabilityHandler = nil } else { watch.read(data) }
        }
        process.terminationHandler = { ended in watch.state.withLock { $0.exitCode = ended.terminationStatus } }
        try process.run()
        do {
            let url = try await eventually("pushwatch serve listens") {
                try watch.state.withLock { state -> String? in
                    if state.exitCode != nil { throw NeverHappened(description: "pushwatch serve ended: \(state.log)") }
                    return state.url
                }
            }
            return ServerProcess(process, watch, url: url)
        } catch {
            kill(process.processIdentifier, SIGKILL)
            throw error
        }
    }

    private init(_ process: Process, _ watch: Watch, url: String) {
        self.process = process
        self.watch = watch
        api = API(url: url, bearer: RunningServer.bootstrapKey)
    }

    deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

    var log: String { watch.state.withLock { $0.log } }
    var isRunning: Bool { process.isRunning }

    func waitUntilReady() async throws {
        var said = "nothing"
        do {
            try await eventually("the server is ready") {
                guard process.isRunning else { throw NeverHappened(description: "the server ended") }
                guard let answer = try? await api.get("/health/ready") else { return false }
                said = answer.text
                return answer.status == 200
            }
        } catch {
            throw NeverHappened(description: "\(error); readiness said \(said); its log ends with:\n\(log.suffix(2000))")
        }
    }

    /// As the kernel ends a process that is out of memory: nothing of it gets to run again.
    func killNow() async throws {
        Foundation.kill(process.processIdentifier, SIGKILL)
        try await ended()
    }

    var processIdentifier: Int32 { process.processIdentifier }

    /// SIGSTOP: it stands still and believes afterwards that no time has passed.
    func freeze() { Foundation.kill(process.processIdentifier, SIGSTOP) }
    func thaw() { Foundation.kill(process.processIdentifier, SIGCONT) }

    /// SIGTERM, as a supervisor stops a service. The exit code, and how long it took.
    func terminate(by signal: Int32 = SIGTERM) async throws -> (code: Int32, took: Duration) {
        let start = ContinuousClock.now
        Foundation.kill(process.processIdentifier, signal)
        let code = try await ended()
        return (code, ContinuousClock.now - start)
    }

    @discardableResult
    private func ended() async throws -> Int32 {
        try await eventually("the server ended") { watch.state.withLock { $0.exitCode } }
    }
}
