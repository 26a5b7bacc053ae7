import Foundation

/// The local installation of the current directory, as `pushwatch-dev up` describes it in `.pushwatch`.
///
/// Commands that are given neither a database nor a server use this one.
package struct LocalSettings: Sendable {
    package static let directoryName = ".pushwatch"

    private let directory: String

    /// - Parameter directory: the state directory; `.pushwatch` of the current directory unless given.
    package init(directory: String = LocalSettings.directoryName) { self.directory = directory }

    /// The settings of its server, as a file for `--config`.
    var configurationFile: String { directory + "/pushwatch.yml" }
    /// An API key with every scope.
    package var keyFile: String { directory + "/api-key" }
    private var urlFile: String { directory + "/url" }

    package var exists: Bool { FileManager.default.fileExists(atPath: configurationFile) }
    /// Where its server listens, or listened last.
    package var url: String? { LocalSettings.text(urlFile) }

    package func write(configuration yaml: String) throws { try PrivateFile.write(yaml, to: configurationFile) }
    package func write(url: String) throws { try PrivateFile.write(url + "\n", to: urlFile) }

    private static func text(_ path: String) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return trimmed.isEmpty ? nil : trimmed
    }
}
