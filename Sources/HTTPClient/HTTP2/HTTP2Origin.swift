import Glibc

/// Scheme, host and port of an `https` URL, and the bytes that each of its requests begins with.
struct HTTP2Origin: Sendable, Hashable {
    /// `https://host:port`, as the URL wrote it.
    let text: String
    let host: String
    let port: UInt16
    private let bytes: [UInt8]
    /// The value of `:authority`.
    let authority: String

    /// Reads the origin of a URL.
    /// - Throws: `OutboundFailure` if it is not `https` with a host.
    init(of url: String) throws(OutboundFailure) {
        let scheme = "https://"
        guard url.hasPrefix(scheme) else { throw HTTP2Origin.fault("only https URLs can be requested over HTTP/2") }
        let authority = String(url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" })
        text = scheme + authority
        bytes = Array(text.utf8)
        self.authority = authority
        guard !authority.contains("@") else { throw HTTP2Origin.fault("a URL with a user name cannot be requested") }
        var host = Substring(authority)
        var port = Substring()
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            host = authority[authority.index(after: authority.startIndex)..<end]
            let rest = authority[authority.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { throw HTTP2Origin.fault("the URL's host is not readable") }
            port = rest.dropFirst()
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            port = authority[authority.index(after: colon)...]
        }
        // A name with a dot at its end is the same host, but no certificate names it so.
        if host.hasSuffix(".") { host = host.dropLast() }
        guard !host.isEmpty, port.isEmpty || UInt16(port) != nil else { throw HTTP2Origin.fault("the URL's host is not readable") }
        self.host = String(host)
        self.port = UInt16(port) ?? 443
    }

    /// Whether the URL begins with this origin.
    func begins(_ url: String) -> Bool {
        url.utf8.withContiguousStorageIfAvailable { url in
            let length = bytes.count
            guard url.count >= length, memcmp(url.baseAddress!, bytes, length) == 0 else { return false }
            return url.count == length || url[length] == UInt8(ascii: "/") || url[length] == UInt8(ascii: "?")
        } ?? false
    }

    private static func fault(_ detail: String) -> OutboundFailure { OutboundFailure(.notWritten, .other, detail: detail) }
}
