import Foundation

/// A proxy that opens tunnels by HTTP CONNECT (RFC 9110 §9.3.6).
struct HTTPProxy: Sendable, Hashable {
    let host: String
    let port: UInt16
    /// `Basic …`, from the URL's user and password.
    private let authorization: String?

    /// Reads `http://[user:password@]host[:port]`.
    /// - Throws: `OutboundFailure` that says what is wrong.
    init(_ url: String) throws(OutboundFailure) {
        guard let parts = URLComponents(string: url), parts.scheme == "http", let host = parts.host, !host.isEmpty else {
            throw OutboundFailure(.notWritten, .other, detail: "the proxy's URL must be http://[user:password@]host[:port]")
        }
        guard let port = UInt16(exactly: parts.port ?? 80) else {
            throw OutboundFailure(.notWritten, .other, detail: "the proxy's port is not between 0 and 65535")
        }
        self.host = host.trimmingCharacters(in: ["[", "]"])
        self.port = port
        authorization = parts.user.map { user in
            "Basic " + Data("\(user):\(parts.password ?? "")".utf8).base64EncodedString()
        }
    }

    /// The request for a tunnel.
    func request(host: String, port: UInt16) -> [UInt8] {
        let target = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        let fields = ["CONNECT \(target) HTTP/1.1", "Host: \(target)"] + (authorization.map { ["Proxy-Authorization: \($0)"] } ?? [])
        return Array((fields.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// What the proxy's answer so far says: nil if it is not complete.
    static func status(in answer: [UInt8]) -> Int? {
        guard answer.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return nil }
        let words = String(decoding: answer.prefix { $0 != 13 }, as: UTF8.self).split(separator: " ")
        guard words.count >= 2, words[0].hasPrefix("HTTP/1.") else { return 0 }
        return Int(words[1]) ?? 0
    }
}
