package import Foundation

/// Differs when a file has changed: of the file that a link leads to, as in a mounted Kubernetes Secret, where an update replaces a link.
package struct FileStamp: Sendable, Hashable {
    package var size: Int
    package var modified: Date

    /// Nil if there is no such file.
    package init?(path: String) {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target) else { return nil }
        size = attributes[.size] as? Int ?? 0
        modified = attributes[.modificationDate] as? Date ?? .distantPast
    }
}
