import Foundation

/// The installed server programs of one PostgreSQL version.
struct PostgresBinaries: Sendable, Equatable {
    /// The directory that holds `initdb`, `pg_ctl` and `postgres`.
    let directory: String

    func path(_ program: String) -> String { directory + "/" + program }

    /// The first complete installation: `pg_config --bindir`, Debian's places (newest first), `PATH`, Homebrew.
    ///
    /// `major` asks for the version that made an existing cluster; another one cannot open it.
    static func find(major: Int?, in given: String? = nil) async throws -> PostgresBinaries {
        if let given {
            guard isComplete(given) else {
                throw LocalPostgresError(.notInstalled, "\(given) lacks initdb, pg_ctl or postgres: name a `bin` directory of PostgreSQL.")
            }
            return PostgresBinaries(directory: given)
        }
        var seen: [String] = []
        for directory in await candidates() where !seen.contains(directory) && isComplete(directory) {
            seen.append(directory)
            guard let major else { return PostgresBinaries(directory: directory) }
            if await version(of: directory) == major { return PostgresBinaries(directory: directory) }
        }
        if let major, !seen.isEmpty {
            throw LocalPostgresError(
                .notInstalled,
                "this cluster was made by PostgreSQL \(major), which is not installed (found: \(seen.joined(separator: ", "))). "
                    + "Install it, with `apt-get install postgresql-\(major)` on Debian and Ubuntu, or use another state directory."
            )
        }
        throw LocalPostgresError(
            .notInstalled,
            "PostgreSQL is not installed: no directory with initdb, pg_ctl and postgres was found. "
                + "Install it with `apt-get install postgresql` (Debian, Ubuntu) or `brew install postgresql` (macOS)."
        )
    }

    private static func candidates() async -> [String] {
        let configured = try? await ServerCommand(program: "pg_config", arguments: ["--bindir"], user: .current).run()
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return [configured?.trimmingCharacters(in: .whitespacesAndNewlines)].compactMap { $0 }
            + versioned("/usr/lib/postgresql", suffix: "/bin")
            + path.split(separator: ":").map(String.init)
            + ["/opt/homebrew/opt", "/usr/local/opt"].flatMap { versioned($0, prefix: "postgresql@", suffix: "/bin") }
            + ["/opt/homebrew/bin", "/usr/local/bin", "/usr/local/pgsql/bin"]
    }

    /// `parent/<prefix>NN<suffix>` for each NN there is, newest first.
    private static func versioned(_ parent: String, prefix: String = "", suffix: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        return names.compactMap { name in name.hasPrefix(prefix) ? Int(name.dropFirst(prefix.count)) : nil }
            .sorted(by: >)
            .map { "\(parent)/\(prefix)\($0)\(suffix)" }
    }

    private static func isComplete(_ directory: String) -> Bool {
        ["initdb", "pg_ctl", "postgres"].allSatisfy { FileManager.default.isExecutableFile(atPath: directory + "/" + $0) }
    }

    /// The major version: 15 from `postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)`.
    private static func version(of directory: String) async -> Int? {
        let command = ServerCommand(program: directory + "/postgres", arguments: ["--version"], user: .current)
        return (try? await command.run()).flatMap(major(inVersion:))
    }

    static func major(inVersion text: String) -> Int? {
        text.split(separator: " ").dropFirst(2).first.flatMap { Int($0.prefix { $0.isNumber }) }
    }
}
