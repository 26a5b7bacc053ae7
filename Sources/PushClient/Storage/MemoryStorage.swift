import Synchronization

/// Stores state and secrets in memory, for tests and simulated phones. Thread-safe.
public final class MemoryStorage: PushStorage, SecretStorage {
    private let bytes = Mutex<[UInt8]?>(nil)
    private let secrets = Mutex<[String: String]>([:])

    /// Creates an empty storage.
    public init() {}

    /// The state saved last.
    public func load() -> [UInt8]? { bytes.withLock { $0 } }

    /// Replaces it.
    public func save(_ bytes: [UInt8]) { self.bytes.withLock { $0 = bytes } }

    /// The secret of this user's registration here.
    public func secret(of uid: String) -> String? { secrets.withLock { $0[uid] } }

    /// Stores it; nil deletes it.
    public func setSecret(_ secret: String?, of uid: String) { secrets.withLock { $0[uid] = secret } }
}
