import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Where the Unix socket goes. A socket's path holds at most 107 bytes (103 on macOS), so a deep state directory needs another place.
struct SocketDirectory: Equatable {
    let path: String

    static let pathLimit = 103

    /// `<state>/socket`, or a private directory under `/tmp` named after the state directory when that is too long.
    ///
    /// The server's setting is a list with its own quoting, so an unusual path goes to `/tmp` too.
    static func choose(for state: String, user: UInt32) -> SocketDirectory {
        let inside = state + "/socket"
        let isPlain = inside.utf8.allSatisfy { isalnum(Int32($0)) != 0 || "/._-".utf8.contains($0) }
        if isPlain, inside.utf8.count + "/.s.PGSQL.65535".utf8.count <= pathLimit { return SocketDirectory(path: inside) }
        return SocketDirectory(path: "/tmp/pushwatch-\(user)-\(state.stableHash)")
    }

    /// Makes it, open to the cluster's user alone; refuses one that somebody else put there.
    func prepare(for user: ClusterUser) throws {
        if mkdir(path, 0o700) == 0 {
            chown(path, user.id, user.group)
            return
        }
        var info = stat()
        guard lstat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, info.st_uid == user.id else {
            throw LocalPostgresError(.notOwned, "\(path), the place for the database's socket, is not a directory of user \(user.name)")
        }
        chmod(path, 0o700)
    }

    /// Removes it when it is empty, as it is once the server has ended.
    func remove() { rmdir(path) }
}

extension String {
    /// FNV-1a over the bytes, as 16 hex digits: the same in every process, unlike `hashValue`.
    var stableHash: String {
        let value = utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
