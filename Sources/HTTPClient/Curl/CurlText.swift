/// libcurl's words for an error.
enum CurlText {
    /// A connection that failed, without the milliseconds that differ each time and the repetition:
    /// `cannot connect to mail.example.org:25`. Any other text as it is.
    static func plain(_ text: String) -> String {
        let connecting = /Failed to connect to (\S+) port (\d+) (?:via (\S+) )?after \d+ ms: (.+)/
        guard let parts = text.wholeMatch(of: connecting)?.output else { return text }
        let host = parts.1.contains(":") ? "[\(parts.1)]" : String(parts.1)
        let way = parts.3.map { " via \($0)" } ?? ""
        // Couldn't, or in later versions Could not connect to server.
        let cause = parts.4.hasPrefix("Could") ? "" : ": \(parts.4)"
        return "cannot connect to \(host):\(parts.2)\(way)\(cause)"
    }
}
