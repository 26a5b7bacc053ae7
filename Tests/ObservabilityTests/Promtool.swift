import Foundation

/// Debian's Prometheus checker.
enum Promtool {
    private static let path = "/usr/bin/promtool"

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// What `promtool check metrics` says about the text; empty when all is well.
    static func check(_ text: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = ["check", "metrics"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let complaint = String(decoding: said, as: UTF8.self)
        return process.terminationStatus == 0 ? complaint : complaint + "exit \(process.terminationStatus)"
    }
}
