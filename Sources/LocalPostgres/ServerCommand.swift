import Foundation
import Subprocess

/// One of PostgreSQL's programs, run to its end under the cluster's user.
struct ServerCommand {
    var program: String
    var arguments: [String]
    var user: ClusterUser
    /// Where it runs; by default where every user may enter.
    var workingDirectory = "/"

    /// Its output (both streams). Throws `commandFailed`, with the output, when it ends otherwise than with 0.
    @discardableResult
    func run() async throws -> String {
        var options = PlatformOptions()
        if !user.isOurselves {
            options.userID = user.id
            options.groupID = user.group
            options.supplementaryGroups = []
        }
        // The shell changes the directory as the server's user, and exec takes any path as it is.
        let result = try await Subprocess.run(
            .name("sh"),
            arguments: Arguments(["-c", "cd \"$0\" && exec \"$@\"", workingDirectory, program] + arguments),
            environment: .custom(ServerCommand.environment),
            platformOptions: options,
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

    /// Nothing of ours (`PGDATA`, `PGPORT`, `LC_ALL`, …) may steer the server.
    private static var environment: [Environment.Key: String] {
        ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"]
    }
}
