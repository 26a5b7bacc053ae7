package import ArgumentParser
import Foundation

/// `--url`, `--key` and `--key-file`: for commands that call a running server.
package struct APIOptions: ParsableArguments {
    private static let standardURL = "http://127.0.0.1:8080"

    @Option(help: "The running server. Default: that of the local installation in .pushwatch, else http://127.0.0.1:8080.")
    package var url: String?
    @Option(help: "An API key of `pushwatch keys create`. Default: --key-file.") package var key: String?
    @Option(help: "A file with the API key. Default: that of the local installation, .pushwatch/api-key.") package var keyFile: String?

    package init() {}

    package var serverURL: String {
        let text = url ?? LocalSettings().url ?? APIOptions.standardURL
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// - Parameter scope: the scope that the key needs, for the error's advice.
    package func caller(scope: String) throws -> APICaller {
        guard serverURL.hasPrefix("http://") || serverURL.hasPrefix("https://") else {
            throw CommandFailure.usage("--url must begin with http:// or https://.")
        }
        // Errors show the URL, and paths are appended to it.
        guard URLComponents(string: serverURL).map({ $0.user == nil && $0.password == nil && $0.query == nil }) ?? false else {
            throw CommandFailure.usage(
                "--url must be the server's address alone, such as https://push.example.com: no user, password or query."
            )
        }
        return APICaller(url: serverURL, key: try apiKey(scope: scope))
    }

    package func apiKey(scope: String) throws -> String {
        if let key { return key.trimmingCharacters(in: .whitespacesAndNewlines) }
        let path = keyFile ?? LocalSettings().keyFile
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw CommandFailure.usage(
                "No API key: \(path) cannot be read. Pass --key or --key-file; `pushwatch keys create --name me --scope \(scope)` creates a key."
            )
        }
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
