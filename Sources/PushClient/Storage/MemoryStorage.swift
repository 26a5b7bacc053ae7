import Foundation

/// Stores state and secrets in memory, for tests and simulated phones. Thread-safe.
///
/// Unchecked because the compiler does not see that every access holds `lock`. A `Mutex` would need iOS 18.
public final class MemoryStorage: PushStorage, SecretStorage, @unchecked Sendable {
    private let lock = NSLock()
    private var bytes: [UInt8]?
    private var secrets: [String: String] = [:]

    /// Creates an empty storage.
    public init() {}

    /// The state saved last.
    public func load() -> [UInt8]? { lock.withLock { bytes } }

    /// Replaces it.
    public func save(_ bytes: [UInt8]) { lock.withLock { self.bytes = bytes } }

    /// The secret of this user's registration here.
    public func secret(of uid: String) -> String? { lock.withLock { secrets[uid] } }

    /// Stores it; nil deletes it.
    public func setSecret(_ secret: String?, of uid: String) { lock.withLock { secrets[uid] = secret } }
}
