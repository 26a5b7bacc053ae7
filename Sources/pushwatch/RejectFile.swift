import Attempts
import CommandLineKit
import Foundation

/// Rejected lines with their reasons, written as they occur; no file without any.
final class RejectFile {
    let path: String
    private var handle: FileHandle?

    /// - Parameter count: of an earlier run's rejects those of the first so many lines stay; the others come again.
    init(path: String, keepingLines count: Int) throws {
        self.path = path
        guard let old = try? String(contentsOfFile: path, encoding: .utf8) else { return }
        let kept = old.split(separator: "\n").filter { line in
            let fields = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return (fields?["line"] as? Int).map { $0 <= count } ?? false
        }
        if kept.isEmpty {
            try FileManager.default.removeItem(atPath: path)
        } else {
            try (kept.joined(separator: "\n") + "\n").write(toFile: path, atomically: true, encoding: .utf8)
        }
    }

    func append(_ reject: AttemptImporter.Reject) throws {
        if handle == nil {
            if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: nil) }
            guard let opened = FileHandle(forWritingAtPath: path) else {
                throw CommandFailure.environment("\(path) cannot be written, where the lines that are refused belong.")
            }
            try opened.seekToEnd()
            handle = opened
        }
        let fields: [String: Any] = [
            "line": reject.line, "attemptId": reject.attemptId ?? NSNull(), "code": reject.code, "detail": reject.detail,
        ]
        let line = try JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys, .withoutEscapingSlashes])
        try handle?.write(contentsOf: line + Data("\n".utf8))
    }
}
