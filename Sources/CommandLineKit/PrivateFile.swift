import Foundation

/// Files that only their owner may read.
package enum PrivateFile {
    package static func write(_ text: String, to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure.environment("\(path) cannot be written.")
        }
    }
}
