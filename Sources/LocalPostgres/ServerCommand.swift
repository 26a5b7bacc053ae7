import Foundation
import Subprocess

/// One of PostgreSQL's programs, run to its end under the cluster's user.
struct ServerCommand {
    var program: String
    var arguments: [String]
    var user: ClusterUser
    /// Where it runs; by default where every user may enter.
    var workingDirectory = "/"
    /// That it runs in, as root.
    var networkNamespace: String?

    /// Its output (both streams). Throws `commandFailed`, with the output, when it ends otherwise than with 0.
    @discardableResult
    func run() async throws -> String {
        // The shell changes the directory as the server's user, and exec takes any path as it is.
        let line = try inNamespace + asUser + ["sh", "-c", "cd \"$0\" && exec \"$@\"", workingDirectory, program] + arguments
        let result = try await Subprocess.run(
            .name(line[0]),
            arguments: Arguments(Array(line.dropFirst())),
            environment: .custom(ServerCommand.environment),
            output: .string(limit: 1 << 20),
            error: .combinedWithOutput
        )
        let output = result.standardOutput
        guard result.terminationStatus.isSuccess else {
            let name = (program as NSString).lastPathComponent
            throw LocalPostgresError(.commandFailed, "\(name) failed (\(result.terminationStatus)): \(output.suffix(2000))")
        }
        return output
    }

    private var inNamespace: [String] { networkNamespace.map { ["ip", "netns", "exec", $0] } ?? [] }

    /// What puts a command under the server's user.
    ///
    /// By program, not by Subprocess's own `userID`: its child calls setgroups() between clone and exec, where glibc can wait for ever
    /// for a thread that the child does not have.
    private var asUser: [String] {
        get throws {
            if user.isCurrent { return [] }
            if ServerCommand.isInstalled("setpriv") {
                return ["setpriv", "--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups", "--"]
            }
            if ServerCommand.isInstalled("runuser") { return ["runuser", "-u", user.name, "--"] }
            if ServerCommand.isInstalled("sudo") { return ["sudo", "-n", "-u", user.name, "--"] }
            throw LocalPostgresError(
                .notInstalled,
                "PostgreSQL refuses root, and neither setpriv, runuser nor sudo is there to run it as \(user.name): "
                    + "install util-linux, or run as a plain user"
            )
        }
    }

    private static let path = (ProcessInfo.processInfo.environment["PATH"].map { $0 + ":" } ?? "") + "/usr/sbin:/usr/bin:/sbin:/bin"

    private static func isInstalled(_ program: String) -> Bool {
        path.split(separator: ":").contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }

    /// No variable of this process (`PGDATA`, `PGPORT`, `LC_ALL`, …) may affect the server.
    private static let environment: [Environment.Key: String] = ["PATH": path, "LC_ALL": "C", "TZ": "UTC"]
}
