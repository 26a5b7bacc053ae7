/// A runbook as HTML. Headings are pushed down to fit under the page's own.
enum MarkdownHTML {
    static func html(_ markdown: String, headingsFrom level: Int = 2) -> String {
        html(MarkdownReader.blocks(markdown), headingsFrom: level)
    }

    private static func html(_ blocks: [MarkdownBlock], headingsFrom level: Int) -> String {
        blocks.map { html($0, headingsFrom: level) }.joined(separator: "\n")
    }

    private static func html(_ block: MarkdownBlock, headingsFrom base: Int) -> String {
        switch block {
        case .heading(let level, let text):
            let tag = "h\(min(6, level + base - 1))"
            return "<\(tag)>\(MarkdownInline.html(text))</\(tag)>"
        case .paragraph(let text):
            return "<p>\(MarkdownInline.html(text))</p>"
        case .code(let text):
            return "<pre tabindex=\"0\"><code>\(SVG.escape(text))</code></pre>"
        case .list(let isOrdered, let items):
            let tag = isOrdered ? "ol" : "ul"
            let inner = items.map { "<li>\(item($0, headingsFrom: base))</li>" }.joined(separator: "\n")
            return "<\(tag)>\n\(inner)\n</\(tag)>"
        case .table(let header, let rows):
            return table(header, rows)
        }
    }

    /// An item of one paragraph needs no paragraph of its own.
    private static func item(_ blocks: [MarkdownBlock], headingsFrom level: Int) -> String {
        guard case .paragraph(let text) = blocks.first else { return html(blocks, headingsFrom: level) }
        let rest = html(Array(blocks.dropFirst()), headingsFrom: level)
        return MarkdownInline.html(text) + (rest.isEmpty ? "" : "\n" + rest)
    }

    private static func table(_ header: [String], _ rows: [[String]]) -> String {
        let head = header.map { "<th scope=\"col\">\(MarkdownInline.html($0))</th>" }.joined()
        let body = rows.map { "<tr>" + $0.map { "<td>\(MarkdownInline.html($0))</td>" }.joined() + "</tr>" }.joined(separator: "\n")
        return "<div class=\"scroll\"><table><thead><tr>\(head)</tr></thead>\n<tbody>\(body)</tbody></table></div>"
    }
}
