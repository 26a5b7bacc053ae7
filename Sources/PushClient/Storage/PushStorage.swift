/// Where the client keeps its state between launches. Holds no token.
public protocol PushStorage: Sendable {
    /// What was saved last; nil when nothing was, or it cannot be read.
    func load() -> [UInt8]?
    /// Saves the whole state; the next `load` returns it, or what was there before.
    func save(_ bytes: [UInt8]) throws
}

/// Where unregister secrets are kept: the keychain.
public protocol SecretStorage: Sendable {
    /// The secret of this user's registration here.
    func secret(of uid: String) -> String?
    /// Keeps it; nil forgets it.
    func setSecret(_ secret: String?, of uid: String)
}
