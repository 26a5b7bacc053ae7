import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The state directory of one cluster, and where its files are.
///
/// The marker says that we made it. Without it a directory that holds anything is refused and nothing in it is touched.
struct ClusterDirectory: Sendable {
    let path: String
    let user: ClusterUser

    var marker: String { path + "/PUSHWATCH_CLUSTER" }
    var data: String { path + "/data" }
    var unfinished: String { path + "/data.new" }
    var log: String { path + "/postgres.log" }
    var passwordFile: String { path + "/password" }
    var portFile: String { path + "/port" }
    var settingsFile: String { data + "/pushwatch.conf" }
    var lock: String { path + "/lock" }

    /// Finds the place and makes it usable by the user the server runs under.
    static func prepare(_ configuration: LocalPostgresConfiguration) async throws -> ClusterDirectory {
        let wanted = URL(fileURLWithPath: configuration.directory).standardizedFileURL.path
        let directory = try open(wanted)
        if await directory.isReachable() { return directory }
        let owner = directory.user.name
        guard configuration.relocates, directory.majorVersion == nil else {
            throw LocalPostgresError(
                .notReachable,
                "user \(owner), under which PostgreSQL has to run because it refuses root, cannot enter \(wanted). "
                    + "Choose a directory whose parents everybody may enter, such as one below /var/lib."
            )
        }
        directory.removeIfEmpty()
        let other = try open("/var/lib/pushwatch/" + wanted.stableHash)
        guard await other.isReachable() else {
            throw LocalPostgresError(.notReachable, "user \(owner) can enter neither \(wanted) nor \(other.path)")
        }
        return other
    }

    private static func open(_ path: String) throws -> ClusterDirectory {
        let files = FileManager.default
        let contents = try? files.contentsOfDirectory(atPath: path)
        let owner = ownerID(of: path + "/data")
        let directory = ClusterDirectory(path: path, user: try .choose(ownerOfData: owner))
        if let contents, !contents.isEmpty {
            guard contents.contains("PUSHWATCH_CLUSTER") else {
                throw LocalPostgresError(
                    .notOwned,
                    "\(path) holds files that Pushwatch did not make, so it is left alone. Choose an empty or a new directory."
                )
            }
        } else {
            try directory.create()
        }
        if !directory.user.isCurrent {
            chown(path, directory.user.id, directory.user.group)
        }
        return directory
    }

    /// Takes back what `create` made; a directory that holds anything more stays.
    private func removeIfEmpty() {
        guard (try? FileManager.default.contentsOfDirectory(atPath: path)) == ["PUSHWATCH_CLUSTER"] else { return }
        unlink(marker)
        rmdir(path)
    }

    private func create() throws {
        let files = FileManager.default
        let parent = (path as NSString).deletingLastPathComponent
        do {
            try files.createDirectory(atPath: parent, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            try files.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try "Made by Pushwatch: a private PostgreSQL cluster.\n".write(toFile: marker, atomically: false, encoding: .utf8)
        } catch {
            throw LocalPostgresError(.notReachable, "\(path) cannot be made: \(error.localizedDescription)")
        }
    }

    /// Whether the server's user gets there through all the parents.
    private func isReachable() async -> Bool {
        let command = ServerCommand(program: "/bin/sh", arguments: ["-c", "cd \"$0\" && test -w .", path], user: user)
        return (try? await command.run()) != nil
    }

    /// The version that made the cluster; nil when there is none yet.
    var majorVersion: Int? {
        (try? String(contentsOfFile: data + "/PG_VERSION", encoding: .utf8))
            .flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    var password: String? {
        (try? String(contentsOfFile: passwordFile, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Writes a file that the server's user may read and nobody else.
    func write(_ text: String, to file: String) throws {
        let descriptor = Self.open(file, flags: O_WRONLY | O_CREAT | O_TRUNC)
        guard descriptor >= 0 else { throw LocalPostgresError(.notReachable, "\(file) cannot be written") }
        defer { close(descriptor) }
        fchown(descriptor, user.id, user.group)
        let bytes = Array(text.utf8)
        guard Self.writeAll(bytes, to: descriptor) else {
            throw LocalPostgresError(.notReachable, "\(file) cannot be written: is the disk full?")
        }
    }

    /// The log exists before the server appends to it, and is put aside once it is large.
    func prepareLog() throws {
        let size = (try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) ?? 0
        if size > 16 << 20 { rename(log, log + ".1") }
        let descriptor = Self.open(log, flags: O_WRONLY | O_CREAT | O_APPEND)
        guard descriptor >= 0 else { throw LocalPostgresError(.notReachable, "\(log) cannot be written") }
        fchown(descriptor, user.id, user.group)
        close(descriptor)
    }

    var lastLogLines: String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(8).joined(separator: "\n")
    }

    private static func open(_ path: String, flags: Int32) -> Int32 {
        #if canImport(Darwin)
            Darwin.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        #elseif canImport(Musl)
            Musl.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        #else
            Glibc.open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0o600)
        #endif
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        #if canImport(Darwin)
            Darwin.write(descriptor, bytes, bytes.count) == bytes.count
        #elseif canImport(Musl)
            Musl.write(descriptor, bytes, bytes.count) == bytes.count
        #else
            Glibc.write(descriptor, bytes, bytes.count) == bytes.count
        #endif
    }

    private static func ownerID(of path: String) -> UInt32? {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_uid : nil
    }
}
