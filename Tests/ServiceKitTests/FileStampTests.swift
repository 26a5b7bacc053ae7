import Foundation
import Testing

@testable import ServiceKit

@Suite struct FileStampTests {
    @Test("a file behind a link has changed when the link leads elsewhere, as in a mounted Kubernetes Secret")
    func link() throws {
        let files = FileManager.default
        let directory = NSTemporaryDirectory() + "/stamp-\(UUID().uuidString)"
        defer { try? files.removeItem(atPath: directory) }
        for (version, text) in [("v1", "a"), ("v2", "a key that is longer")] {
            try files.createDirectory(atPath: "\(directory)/\(version)", withIntermediateDirectories: true)
            try text.write(toFile: "\(directory)/\(version)/key", atomically: true, encoding: .utf8)
        }
        try files.createSymbolicLink(atPath: "\(directory)/data", withDestinationPath: "v1")
        try files.createSymbolicLink(atPath: "\(directory)/key", withDestinationPath: "data/key")
        let before = try #require(FileStamp(path: directory + "/key"))
        #expect(FileStamp(path: directory + "/key") == before)
        try files.removeItem(atPath: "\(directory)/data")
        try files.createSymbolicLink(atPath: "\(directory)/data", withDestinationPath: "v2")
        let after = try #require(FileStamp(path: directory + "/key"))
        #expect(after != before && after.size == 20)
        #expect(FileStamp(path: directory + "/nothing") == nil)
    }
}
