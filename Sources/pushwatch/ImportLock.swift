import CommandLineKit
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Keeps two imports of one file apart, whose rejects would go to one file. The kernel unlocks the file when the process ends, however it
/// ends.
final class ImportLock {
    private let handle: FileHandle

    init(path: String) throws {
        var info = stat()
        // Before the file is opened: that of a pipe waits for a writer.
        if stat(path, &info) == 0, info.st_mode & S_IFMT != S_IFREG {
            let kind = info.st_mode & S_IFMT == S_IFIFO ? "a pipe" : "no regular file"
            throw CommandFailure.environment(
                "\(path) is \(kind); an import can be resumed, so it needs a regular file. Write the lines to one, and import that."
            )
        }
        guard let handle = FileHandle(forReadingAtPath: path) else { throw CommandFailure.environment("\(path) cannot be read.") }
        // Any other failure is of a file system that has no locks.
        guard flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0 || errno != EAGAIN else {
            throw CommandFailure.environment("\(path) is being imported by another process. Wait until it ends; this one changed nothing.")
        }
        self.handle = handle
    }
}
