import Foundation
import ServiceKit

/// Names, sizes and change times of a directory's files: differs when any of them changed.
struct DirectoryStamp: Sendable, Hashable {
    struct Entry: Sendable, Hashable {
        var name: String
        var file: FileStamp
    }

    var entries: [Entry]

    static func of(_ path: String) -> DirectoryStamp {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return DirectoryStamp(entries: names.sorted().compactMap { entry("\(path)/\($0)") })
    }

    static func entry(_ path: String) -> Entry? {
        FileStamp(path: path).map { Entry(name: path, file: $0) }
    }
}
