package import Foundation
import Glibc

/// Differs when a file has changed: of the file that a link leads to, as in a mounted Kubernetes Secret, where an update replaces a link.
package struct FileStamp: Sendable, Hashable {
    package let size: Int
    package let modified: Date
    private let number: UInt64
    /// In nanoseconds since 1970. Differs as well after a change of owner or permissions, which may make a file readable.
    private let changed: Int64

    /// Nil if there is no such file.
    package init?(path: String) {
        var info = stat()
        guard stat(path, &info) == 0 else { return nil }
        size = Int(info.st_size)
        modified = Date(timeIntervalSince1970: Double(info.st_mtim.tv_sec) + Double(info.st_mtim.tv_nsec) / 1e9)
        number = UInt64(info.st_ino)
        changed = Int64(info.st_ctim.tv_sec) * 1_000_000_000 + Int64(info.st_ctim.tv_nsec)
    }
}
