import Foundation

/// Files that others read while we may be writing them: they see the old text or the new, never half of it.
enum WholeFile {
    /// - Parameter permissions: 0o600 for keys, 0o644 for what anybody may know.
    static func write(_ text: String, to path: String, permissions: Int) throws {
        let directory = URL(filePath: path).deletingLastPathComponent()
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let draft = path + ".new"
        guard FileManager.default.createFile(atPath: draft, contents: Data(text.utf8), attributes: [.posixPermissions: permissions]) else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: draft])
        }
        guard rename(draft, path) == 0 else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: path])
        }
    }
}
