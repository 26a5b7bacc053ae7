import Foundation
import LocalPostgres

/// Directories of test clusters under the system's temporary directory; those of processes that died are cleared away.
struct TestDirectories {
    private static let prefix = "pushwatch-tests-"
    private let parent = NSTemporaryDirectory()

    /// The directory of this process's cluster.
    func makeOwn() throws -> String {
        reap()
        return parent + (parent.hasSuffix("/") ? "" : "/") + TestDirectories.prefix + "\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    }

    /// The number in the name covers a process that has made its directory and not locked it yet; the lock, a reused number.
    private static func isOwnerGone(_ name: String) -> Bool {
        guard let owner = name.dropFirst(prefix.count).split(separator: "-").first.flatMap({ Int32($0) }) else { return false }
        return kill(owner, 0) != 0 && errno == ESRCH
    }

    private func reap() {
        for name in names(in: parent) where name.hasPrefix(TestDirectories.prefix) && TestDirectories.isOwnerGone(name) {
            let own = parent + "/" + name
            // Several servers have theirs below it.
            for directory in names(in: own).map({ own + "/" + $0 }) + [own] {
                _ = try? LocalPostgres.discardAbandoned(directory: directory)
            }
            rmdir(own)
        }
    }

    private func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }
}
