import ArgumentParser
import HTTPClient
import Foundation
import HTTPServer
import Logging
package import ServiceKit

/// `--url` and `--key`: for commands that are callers of a running server.
struct APIOptions: ParsableArguments {
    /// What `pushwatch up` keeps in its state directory.
    private static let localKey = ".pushwatch/api-key"

    @Option(help: "The running server.") var url = "http://127.0.0.1:8080"
    @Option(help: "An API key of `pushwatch api-keys create`. Without it, --key-file.") var key: String?
    @Option(help: "A file that holds the API key; without it \(localKey), which `pushwatch up` keeps.") var keyFile: String?

    func caller() throws -> APICaller {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw CommandFailure(message: "--url must begin with http:// or https://.", code: 2)
        }
        let path = keyFile ?? APIOptions.localKey
        guard let key = try key ?? (try? String(contentsOfFile: path, encoding: .utf8)) ?? missing(path) else {
            throw CommandFailure(message: "No API key.", code: 2)
        }
        return APICaller(url: url.hasSuffix("/") ? String(url.dropLast()) : url, key: key.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private func missing(_ path: String) throws -> String? {
        throw CommandFailure(
            message:
                "There is no API key: \(path) cannot be read. Pass --key or --key-file; `pushwatch api-keys create --scope sends:write` makes one.",
            code: 2
        )
    }
}

/// A caller of the API.
struct APICaller {
    let url: String
    let key: String
    private let client: CurlClient

    init(url: String, key: String) {
        self.url = url
        self.key = key
        var configuration = CurlClientConfiguration()
        configuration.httpVersion = .http1
        configuration.connectTimeout = .seconds(5)
        client = CurlClient(configuration: configuration, logger: Logger(label: "api"))
    }

    /// The answer's status and JSON. Throws `CommandFailure` when there is no answer, or one that says no.
    func call(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> (status: Int, text: String, json: JSONValue) {
        var headers = [("authorization", "Bearer \(key)")]
        if body != nil { headers.append(("content-type", "application/json")) }
        let request = OutboundRequest(method: method, url: url + path, headers: headers, body: body.map { Array($0.text.utf8) } ?? [])
        let response: OutboundResponse
        do throws(OutboundFailure) {
            response = try await client.send(request)
        } catch {
            throw CommandFailure.environment("\(url) cannot be reached: \(error)")
        }
        let text = String(decoding: response.body, as: UTF8.self)
        let json = (try? JSONParser.parse(response.body)) ?? .null
        switch response.status {
        case 200..<300: return (response.status, text, json)
        case 503: throw CommandFailure.environment("\(url) is not able to answer now: \(json.member("detail") ?? "503")")
        default: throw CommandFailure.check("\(json.member("detail") ?? "\(url) answered \(response.status).")")
        }
    }
}

extension JSONValue {
    /// A member that is a text.
    func member(_ name: String) -> String? {
        guard case .object(let members) = self, case .string(let text)? = members[name] else { return nil }
        return text
    }
}
