import Foundation

/// Debian's Prometheus checker.
enum Promtool {
    private static let path = "/usr/bin/promtool"

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// What `promtool check metrics` says about the text; empty when all is well.
    static func check(_ text: String) throws -> String {
        let answer = try run(["check", "metrics"], input: text)
        return answer.status == 0 ? answer.text : answer.text + "exit \(answer.status)"
    }

    static func run(_ arguments: [String], input text: String = "") throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try input.fileHandleForWriting.close()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }
}
