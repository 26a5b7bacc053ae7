import Foundation

/// Keeps the state in a file, replaced as a whole, so that a crash leaves the old state or the new one.
public struct FileStorage: PushStorage {
    private let path: String

    /// - Parameter path: of the file; its directory exists.
    public init(path: String) { self.path = path }

    /// The file's bytes; nil when there is none.
    public func load() -> [UInt8]? { FileManager.default.contents(atPath: path).map(Array.init) }

    /// Writes a file beside it and renames that.
    public func save(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic) }
}
