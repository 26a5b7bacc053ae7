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

    @Test("a file has changed when its permissions did, which may make it readable, and when another of the same size and time replaced it")
    func permissions() throws {
        let files = FileManager.default
        let path = NSTemporaryDirectory() + "/stamp-\(UUID().uuidString)"
        defer { for name in [path, path + ".new"] { try? files.removeItem(atPath: name) } }
        try "text".write(toFile: path, atomically: false, encoding: .utf8)
        try files.setAttributes([.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: path)
        let first = try #require(FileStamp(path: path))
        try files.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        let second = try #require(FileStamp(path: path))
        #expect(second != first && second.modified == first.modified)
        try "test".write(toFile: path + ".new", atomically: false, encoding: .utf8)
        try files.setAttributes([.modificationDate: first.modified], ofItemAtPath: path + ".new")
        try files.removeItem(atPath: path)
        try files.moveItem(atPath: path + ".new", toPath: path)
        let third = try #require(FileStamp(path: path))
        #expect(third != second && third.size == first.size && third.modified == first.modified)
    }

    @Test("why a file or a directory cannot be read is in the system's words")
    func fault() throws {
        let path = NSTemporaryDirectory() + "/fault-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data([0xFF]).write(to: URL(fileURLWithPath: path))
        #expect(FileFault.cause(path) == "it is not UTF-8")
        #expect(FileFault.cause(path, isDirectory: true) == "Not a directory")
        #expect(FileFault.cause(NSTemporaryDirectory()) == "Is a directory")
        #expect(FileFault.cause(path + "/nothing", isDirectory: true) == "Not a directory")
        #expect(FileFault.cause(path + "-nothing") == "No such file or directory")
        let error = #expect(throws: CocoaError.self) {
            try FileManager.default.createDirectory(atPath: path + "/a/b", withIntermediateDirectories: true)
        }
        #expect(error.map { FileFault.cause(of: $0) } == "Not a directory")
    }
}
