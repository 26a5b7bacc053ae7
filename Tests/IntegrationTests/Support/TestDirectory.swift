import Foundation

/// A directory for the time of `body`.
func withTestDirectory<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let path =
        URL(fileURLWithPath: NSTemporaryDirectory()).path
        + "/pushwatch-tests-\(ProcessInfo.processInfo.processIdentifier)-\(UInt32.random(in: 0...UInt32.max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

/// Places in the source tree.
enum ProjectDirectory {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    static let migrations = root + "/sql/migrations"
    static let alerts = root + "/alerts"
}
