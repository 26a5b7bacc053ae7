import Foundation
import LocalPostgres

/// Debian's PgBouncer in front of a test's database.
package enum PgBouncer {
    private static let path = "/usr/sbin/pgbouncer"
    package static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }
    package static let absence = "PgBouncer is not installed: apt-get install pgbouncer"

    package enum Mode: String, Sendable { case transaction, session }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Runs one for the time of `body`, which gets the way through it to the same database.
    ///
    /// - Parameters:
    ///   - sessions: of the database, at most.
    ///   - settings: further lines of its configuration; without any it is as strict as it comes.
    package static func running<Value>(
        before database: String,
        mode: Mode = .transaction,
        sessions: Int = 4,
        settings: [String: String] = [:],
        _ body: (_ url: String) async throws -> Value
    ) async throws -> Value {
        guard let port = LoopbackPort.anyFree(), var parts = URLComponents(string: database) else { throw Failure(description: database) }
        let directory = NSTemporaryDirectory() + "/pgbouncer-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let (target, owner) = target(of: parts)
        var lines = [
            "listen_addr": "127.0.0.1", "listen_port": "\(port)", "unix_socket_dir": "", "auth_type": "any", "pool_mode": mode.rawValue,
            "default_pool_size": "\(sessions)", "max_client_conn": "500", "query_wait_timeout": "20",
        ]
        lines.merge(settings) { $1 }
        let text = "[databases]\n* = \(target)\n[pgbouncer]\n" + lines.map { "\($0) = \($1)\n" }.sorted().joined()
        try text.write(toFile: directory + "/pgbouncer.ini", atomically: true, encoding: .utf8)
        let log = directory + "/log"
        _ = FileManager.default.createFile(atPath: log, contents: nil)

        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        // It refuses to run as root, and only the cluster's user may enter the directory of the socket.
        process.arguments = (geteuid() == 0 ? ["-u", owner ?? "nobody"] : []) + [directory + "/pgbouncer.ini"]
        process.standardError = FileHandle(forWritingAtPath: log)
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        defer {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
        while !isListening(port) {
            guard process.isRunning else {
                throw Failure(description: "PgBouncer ended: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        parts.host = "127.0.0.1"
        parts.port = port
        parts.user = "pushwatch"
        parts.password = nil
        parts.queryItems = nil
        return try await body(parts.string ?? "")
    }

    /// Where PgBouncer connects to, and whose directory that is.
    private static func target(of parts: URLComponents) -> (line: String, owner: String?) {
        let items = parts.queryItems ?? []
        func item(_ name: String) -> String? { items.first { $0.name == name }?.value }
        let host = item("host") ?? parts.host ?? "127.0.0.1"
        let values = [
            ("host", host), ("port", item("port") ?? parts.port.map(String.init) ?? "5432"),
            ("user", parts.user ?? item("user") ?? "pushwatch"),
            ("password", parts.password),
        ]
        let owner = try? FileManager.default.attributesOfItem(atPath: host)[.ownerAccountName] as? String
        return (values.compactMap { name, value in value.map { "\(name)='\($0)'" } }.joined(separator: " "), owner)
    }

    private static func isListening(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
