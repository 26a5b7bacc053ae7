/// Text within a block: `code`, **strong**, *emphasis*, [links](…). Everything else is escaped text.
enum MarkdownInline {
    static func html(_ text: String) -> String {
        var html = ""
        var rest = text[...]
        while let first = rest.first {
            if first == "`", let (code, after) = delimited(rest, by: "`") {
                html += "<code>\(SVG.escape(String(code)))</code>"
                rest = after
            } else if rest.hasPrefix("**"), let (strong, after) = delimited(rest, by: "**") {
                html += "<strong>\(self.html(String(strong)))</strong>"
                rest = after
            } else if first == "*", let (emphasis, after) = delimited(rest, by: "*"), emphasis.first != " " {
                html += "<em>\(self.html(String(emphasis)))</em>"
                rest = after
            } else if first == "[", let (link, after) = link(rest) {
                html += link
                rest = after
            } else {
                html += SVG.escape(String(first))
                rest = rest.dropFirst()
            }
        }
        return html
    }

    private static func delimited(_ text: Substring, by mark: String) -> (inner: Substring, after: Substring)? {
        let body = text.dropFirst(mark.count)
        guard let end = body.firstRange(of: mark), end.lowerBound > body.startIndex else { return nil }
        return (body[..<end.lowerBound], body[end.upperBound...])
    }

    private static func link(_ text: Substring) -> (html: String, after: Substring)? {
        guard let (label, afterLabel) = closing(text.dropFirst(), "]"), afterLabel.first == "(",
            let (target, after) = closing(afterLabel.dropFirst(), ")"), isSafe(target)
        else { return nil }
        let escaped = SVG.escape(String(target))
        return ("<a href=\"\(escaped)\" rel=\"noreferrer\">\(html(String(label)))</a>", after)
    }

    private static func closing(_ text: Substring, _ mark: Character) -> (inner: Substring, after: Substring)? {
        guard let end = text.firstIndex(of: mark), end > text.startIndex else { return nil }
        return (text[..<end], text[text.index(after: end)...])
    }

    /// Addresses of the web, of mail and within the site; never a scheme that runs something.
    private static func isSafe(_ target: Substring) -> Bool {
        let known = ["https://", "http://", "mailto:", "/", "#"].contains { target.lowercased().hasPrefix($0) }
        return known || !target.contains(":")
    }
}
