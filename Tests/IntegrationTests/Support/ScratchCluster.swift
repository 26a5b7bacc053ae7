import Foundation
import LocalPostgres
import Postgres
import PushContract
import TestDatabase
import TestSupport
import Testing

/// A durable PostgreSQL of a test's own, which it may stop, crash and start again at the same port.
final class ScratchCluster {
    let directory: String
    private var running: LocalPostgres?
    private(set) var url = ""
    private var port: Int?
    private let settings: [String: String]
    private var frozen: FrozenServer?

    init(in directory: String, settings: [String: String] = [:]) {
        self.directory = directory + "/postgres"
        self.settings = settings
    }

    func start() async throws {
        let configuration = LocalPostgresConfiguration(
            directory: directory,
            durable: true,
            port: port,
            settings: ["shared_buffers": "32MB"].merging(settings) { $1 }
        )
        let cluster = try await LocalPostgres.start(configuration, logger: .silent)
        running = cluster
        port = cluster.port
        url = cluster.tcpURL
    }

    /// Gives the database to a role `owner` with the password `owner`, who may make roles and is no superuser; their address.
    func makeOwner() async throws -> String {
        let place = String(url.split(separator: "@").last ?? "")
        let database = String(place.split(separator: "/").last ?? "")
        try await withPool(url) { pool in
            try await pool.execute("CREATE ROLE owner LOGIN CREATEROLE PASSWORD 'owner'")
            try await pool.execute("ALTER DATABASE \(raw: database) OWNER TO owner")
        }
        return "postgresql://owner:owner@" + place
    }

    /// Starts it again if it has ended by itself.
    func startIfDown() async throws {
        let state = try? await PostgresConnection.connect(PostgresConfiguration(url: url))
        guard state == nil else { return }
        crash()
        try await start()
    }

    /// A second server that follows this one until it is promoted.
    fileprivate func makeStandby(in directory: String) async throws -> LocalPostgres {
        guard let running else { throw NeverHappened(description: "the primary does not run") }
        let configuration = LocalPostgresConfiguration(
            directory: directory,
            durable: true,
            settings: ["shared_buffers": "32MB"].merging(settings) { $1 }
        )
        return try await LocalPostgres.startStandby(of: running, configuration, logger: .silent)
    }

    /// A connection string that finds whichever of the two takes writes.
    func url(orElse port: Int) -> String {
        let mine = "127.0.0.1:\(self.port ?? 0)"
        let both = url.replacingOccurrences(of: mine, with: mine + ",127.0.0.1:\(port)")
        return both + "?target_session_attrs=read-write"
    }

    func freeze() throws { frozen = try FrozenServer(directory: directory) }

    func thaw() {
        frozen?.thaw()
        frozen = nil
    }

    /// As when the machine loses power: nothing is written any more.
    func crash() {
        thaw()
        running?.stopBlocking(.immediate)
        running = nil
    }
}

func withScratchCluster<Value>(_ body: (ScratchCluster) async throws -> Value) async throws -> Value {
    try await withTestDirectory { directory in
        let cluster = ScratchCluster(in: directory)
        defer { cluster.crash() }
        try await cluster.start()
        return try await body(cluster)
    }
}

/// A primary, and a standby that streams from it.
func withStandby(_ body: (_ primary: ScratchCluster, _ standby: LocalPostgres) async throws -> Void) async throws {
    try await withTestDirectory { directory in
        let primary = ScratchCluster(in: directory + "/primary", settings: ["wal_level": "replica", "max_wal_senders": "4"])
        defer { primary.crash() }
        try await primary.start()
        let standby = try await primary.makeStandby(in: directory + "/standby")
        defer { standby.stopBlocking(.immediate) }
        try await body(primary, standby)
    }
}

/// A server that was sent SIGSTOP, with all its processes: the kernel goes on acknowledging for them.
struct FrozenServer {
    private let processes: [Int32]

    /// - Parameter directory: the state directory of a local server.
    init(directory: String) throws {
        let file = try String(contentsOfFile: directory + "/data/postmaster.pid", encoding: .utf8)
        let postmaster = try #require(file.split(separator: "\n").first.flatMap { Int32($0) })
        let children = try String(contentsOfFile: "/proc/\(postmaster)/task/\(postmaster)/children", encoding: .utf8)
        processes = [postmaster] + children.split(separator: " ").compactMap { Int32($0) }
        for process in processes { kill(process, SIGSTOP) }
    }

    func thaw() {
        for process in processes { kill(process, SIGCONT) }
    }

    /// Ends them at once, without a word to each other.
    func end() {
        for process in processes { kill(process, SIGKILL) }
    }
}
