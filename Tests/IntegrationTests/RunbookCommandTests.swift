import Foundation
import Testing

@Suite("Commands that runbooks name")
struct RunbookCommandTests {
    private func help(_ program: String, _ words: [String]) throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program == "pushwatch" ? ServerProcess.binary : ServerProcess.devBinary)
        process.arguments = words + ["--help"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }

    @Test("every command and every option in runbooks and in the alerts' README exists")
    func exist() throws {
        let alerts = ProjectDirectory.root + "/alerts"
        let runbooks = try FileManager.default.contentsOfDirectory(atPath: alerts + "/runbooks").map { "\(alerts)/runbooks/\($0)" }
        var seen = 0
        for file in runbooks + [alerts + "/README.md"] {
            let text = try String(contentsOfFile: file, encoding: .utf8)
            for match in text.matches(of: /(?:`|\n)(pushwatch(?:-dev)?) ([^`\n#]+)/) {
                let (program, line) = (String(match.1), match.2)
                let words = line.split(separator: " ").map(String.init)
                let command = Array(words.prefix { $0.wholeMatch(of: /[a-z][a-z-]*/) != nil }.prefix(program == "pushwatch" ? 2 : 1))
                let answer = try help(program, command)
                #expect(answer.status == 0, "\(file): \(program) \(command.joined(separator: " "))")
                #expect(answer.text.contains("USAGE: \(program) \(command.joined(separator: " "))"), "\(file): \(line)")
                for option in words where option.hasPrefix("--") {
                    #expect(answer.text.contains(option.prefix { $0 != "=" }), "\(file): \(option) of \(line)")
                }
                seen += 1
            }
        }
        #expect(seen > 20)
    }
}
