import Synchronization

/// Keeps state and secrets in memory: for tests and simulated phones. Safe to share.
public final class MemoryStorage: PushStorage, SecretStorage {
    private let bytes = Mutex<[UInt8]?>(nil)
    private let secrets = Mutex<[String: String]>([:])

    /// An empty one.
    public init() {}

    /// What was saved last.
    public func load() -> [UInt8]? { bytes.withLock { $0 } }

    /// Replaces it.
    public func save(_ bytes: [UInt8]) { self.bytes.withLock { $0 = bytes } }

    /// The secret of this user's registration here.
    public func secret(of uid: String) -> String? { secrets.withLock { $0[uid] } }

    /// Keeps it; nil forgets it.
    public func setSecret(_ secret: String?, of uid: String) { secrets.withLock { $0[uid] = secret } }
}
