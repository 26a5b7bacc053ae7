#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Keeps two processes from running one cluster. The kernel releases it when the process ends, however it ends.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// nil when another holder is alive.
    init?(path: String) {
        // Not inherited: the server outlives us, the lock must not.
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
    }

    deinit { close(descriptor) }
}
