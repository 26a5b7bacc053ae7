import Foundation
import TestSupport

/// A file system of its own in memory, small enough to fill. Needs root, or at least leave to mount.
struct SmallDisk {
    let directory: String
    private var ballast: String { directory + "/ballast" }

    /// Whether this machine lets us make one; found out by making one.
    static let isAvailable: Bool = {
        let place = NSTemporaryDirectory() + "/pushwatch-disk-\(UInt32.random(in: 0...UInt32.max))"
        try? FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { rmdir(place) }
        guard run("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", place]) else { return false }
        return run("umount", [place])
    }()

    /// Mounts `megabytes` at a new directory, unmounts afterwards.
    static func with<Value>(megabytes: Int, _ body: (SmallDisk) async throws -> Value) async throws -> Value {
        try await withTestDirectory { parent in
            let disk = SmallDisk(directory: parent + "/disk")
            try FileManager.default.createDirectory(atPath: disk.directory, withIntermediateDirectories: true)
            guard run("mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m,mode=755", "tmpfs", disk.directory]) else {
                throw NeverHappened(description: "a small disk cannot be mounted")
            }
            defer { _ = run("umount", ["-l", disk.directory]) }
            return try await body(disk)
        }
    }

    /// Takes all room but `leaving` megabytes.
    func fill(leaving: Int) throws {
        var info = statvfs()
        guard statvfs(directory, &info) == 0 else { return }
        let free = Int(info.f_bavail) * Int(info.f_frsize)
        _ = FileManager.default.createFile(atPath: ballast, contents: nil)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: ballast))
        let megabyte = Data(repeating: 1, count: 1 << 20)
        // The database writes meanwhile, so the room may end before the count does.
        for _ in 0..<max(0, free / (1 << 20) - leaving) { guard (try? file.write(contentsOf: megabyte)) != nil else { break } }
        try file.close()
    }

    func makeRoom() { unlink(ballast) }

    private static func run(_ program: String, _ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
