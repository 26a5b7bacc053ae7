import Foundation

/// Names, sizes and change times of a directory's files: differs when any of them changed.
struct DirectoryStamp: Sendable, Hashable {
    struct Entry: Sendable, Hashable {
        var name: String
        var size: Int
        var modified: Double
    }

    var entries: [Entry]

    static func of(_ path: String) -> DirectoryStamp {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return DirectoryStamp(entries: names.sorted().compactMap { entry("\(path)/\($0)") })
    }

    static func entry(_ path: String) -> Entry? {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        let modified = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
        return Entry(name: path, size: (attributes[.size] as? Int) ?? 0, modified: modified)
    }
}
