import Foundation

/// Stores the state in a file that is replaced atomically, so that a crash leaves the old state or the new one.
public struct FileStorage: PushStorage {
    private let path: String

    /// - Parameter path: The path of the file; its directory must exist.
    public init(path: String) { self.path = path }

    /// The content of the file; nil if there is none.
    public func load() throws -> [UInt8]? {
        do {
            return try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        }
    }

    /// Writes a temporary file in the same directory and renames it.
    public func save(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: path), options: .atomic) }
}
