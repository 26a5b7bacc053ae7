import CommandLineKit
import Foundation

/// The directory of a local installation.
enum StateDirectory {
    static func prepare(_ path: String) throws -> String {
        let absolute = URL(fileURLWithPath: path).standardizedFileURL.path
        do {
            try FileManager.default.createDirectory(atPath: absolute, withIntermediateDirectories: true)
        } catch {
            throw CommandFailure.environment("\(absolute) cannot be created: \(error.localizedDescription)")
        }
        return absolute
    }
}
