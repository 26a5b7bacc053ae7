import Foundation
import Logging
import Postgres

/// Brings one cluster up: initialises it when new, adopts a running server, survives what a crash leaves behind.
struct ClusterStarter {
    let directory: ClusterDirectory
    let binaries: PostgresBinaries
    let configuration: LocalPostgresConfiguration
    let logger: Logger

    /// The settings the server runs with.
    func run() async throws -> ClusterSettings {
        if directory.majorVersion == nil { try await initialise() }
        let socket = SocketDirectory.choose(for: directory.path, user: directory.user.id)
        try socket.prepare(for: directory.user)
        if let adopted = await adopt(socket) { return adopted }
        try clearStalePostmasterFile()
        return try await start(socket)
    }

    /// `initdb` into a side directory that is renamed at the end, so that an interrupted one is never taken for a cluster.
    private func initialise() async throws {
        let files = FileManager.default
        try? files.removeItem(atPath: directory.unfinished)
        guard !files.fileExists(atPath: directory.data) else {
            throw LocalPostgresError(.notOwned, "\(directory.data) exists but is no PostgreSQL cluster; move it away")
        }
        try directory.write(ClusterStarter.randomPassword() + "\n", to: directory.passwordFile)
        logger.info("making a PostgreSQL cluster", metadata: ["directory": "\(directory.path)", "binaries": "\(binaries.directory)"])
        let arguments = [
            "-D", directory.unfinished, "-U", "pushwatch", "-E", "UTF8", "--locale=C", "--auth-local=trust",
            "--auth-host=scram-sha-256", "--pwfile=" + directory.passwordFile, configuration.durable ? "--data-checksums" : "--no-sync",
        ]
        try await command("initdb", arguments).run()
        let main = directory.unfinished + "/postgresql.conf"
        let text = try String(contentsOfFile: main, encoding: .utf8)
        try directory.write(text + "\ninclude_if_exists = 'pushwatch.conf'\n", to: main)
        try files.moveItem(atPath: directory.unfinished, toPath: directory.data)
    }

    /// A server that a killed process left running is kept if its settings are the ones we would start it with.
    private func adopt(_ socket: SocketDirectory) async -> ClusterSettings? {
        guard let server = PostmasterFile.read(dataDirectory: directory.data), server.isAlive else { return nil }
        if let port = server.port, configuration.port == nil || configuration.port == port, server.socketDirectory == socket.path {
            let settings = ClusterSettings(port: port, socketDirectory: socket.path, configuration: configuration)
            let written = try? String(contentsOfFile: directory.settingsFile, encoding: .utf8)
            if written == settings.text, (try? await command("pg_ctl", ["status", "-D", directory.data]).run()) != nil {
                logger.notice("took over a PostgreSQL that was still running", metadata: ["pid": "\(server.processID)"])
                return settings
            }
        }
        logger.notice("restarting a PostgreSQL that was still running", metadata: ["pid": "\(server.processID)"])
        PostmasterStopper(dataDirectory: directory.data).stop(.fast)
        return nil
    }

    /// The server removes a stale file itself unless the number in it went to another process of the same user.
    private func clearStalePostmasterFile() throws {
        guard let stale = PostmasterFile.read(dataDirectory: directory.data), !stale.isAlive else { return }
        logger.notice("the last PostgreSQL here ended without shutting down; it recovers now")
        guard kill(stale.processID, 0) == 0 else { return }
        try? FileManager.default.removeItem(atPath: directory.data + "/postmaster.pid")
    }

    /// Starts the server; again when its port was taken meanwhile or the old server's last processes are still ending.
    private func start(_ socket: SocketDirectory) async throws -> ClusterSettings {
        var lastError: any Error = LocalPostgresError(.didNotStart, "no free TCP port on 127.0.0.1")
        for attempt in 1...10 {
            guard let port = choosePort(attempt) else { break }
            let settings = ClusterSettings(port: port, socketDirectory: socket.path, configuration: configuration)
            try directory.write(settings.text, to: directory.settingsFile)
            try directory.prepareLog()
            do {
                // Relative paths: pg_ctl puts them into a shell line, where some characters of an absolute one would break.
                var start = command("pg_ctl", ["start", "-D", "data", "-l", "postgres.log", "-w", "-t", "120", "-s"])
                start.workingDirectory = directory.path
                start.networkNamespace = configuration.networkNamespace
                try await start.run()
                try directory.write("\(port)\n", to: directory.portFile)
                return settings
            } catch {
                lastError = LocalPostgresError(.didNotStart, "PostgreSQL did not start in \(directory.path):\n\(directory.lastLogLines)")
                guard isPassing else { break }
                try await Task.sleep(for: .milliseconds(200 * attempt))
            }
        }
        throw lastError
    }

    private var isPassing: Bool {
        let log = directory.lastLogLines
        return log.contains("is still in use") || log.contains("could not bind") || log.contains("could not create any TCP/IP sockets")
            || log.contains("already exists")
    }

    private func choosePort(_ attempt: Int) -> Int? {
        if let fixed = configuration.port { return fixed }
        let last = (try? String(contentsOfFile: directory.portFile, encoding: .utf8))
            .flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        if attempt == 1, let last, LoopbackPort.isFree(last) { return last }
        return LoopbackPort.anyFree()
    }

    private func command(_ program: String, _ arguments: [String]) -> ServerCommand {
        ServerCommand(program: binaries.path(program), arguments: arguments, user: directory.user)
    }

    private static func randomPassword() -> String {
        (0..<4).map { _ in String(UInt64.random(in: 0...UInt64.max) | 1 << 63, radix: 36) }.joined()
    }
}
