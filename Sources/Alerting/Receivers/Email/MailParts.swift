/// A mail with a text and an HTML part (RFC 2046 §5.1.4).
enum MailParts {
    /// Complete, with CRLF line ends. `id` is part of the boundary, so that the same mail has the same bytes.
    static func text(_ headers: [(String, String)], id: String, plain: String, html: String) -> String {
        let boundary = "=_\(id)"
        let lines =
            headers.map { "\($0.0): \($0.1)" }
            + ["Content-Type: multipart/alternative; boundary=\"\(boundary)\"", ""]
            + ["--\(boundary)"] + part("text/plain", plain)
            + ["--\(boundary)"] + part("text/html", html)
            + ["--\(boundary)--", ""]
        return lines.joined(separator: "\r\n")
    }

    private static func part(_ type: String, _ text: String) -> [String] {
        ["Content-Type: \(type); charset=utf-8", "Content-Transfer-Encoding: quoted-printable", "", QuotedPrintable.encode(text)]
    }
}
