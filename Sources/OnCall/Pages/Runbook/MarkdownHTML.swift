import CMarkGFM
import Foundation
import Synchronization

/// A runbook as HTML, by libcmark-gfm with its table extension. Headings are moved down to fit under the page's own.
///
/// Raw HTML is shown as text. Links go to the web, to mail and within the site; every other link and every image is shown as its text.
enum MarkdownHTML {
    /// The library keeps its extensions in global tables.
    private static let library = Mutex(false)

    static func html(_ markdown: String, headingsFrom level: Int = 2) -> String {
        library.withLock { isRegistered in
            if !isRegistered { cmark_gfm_core_extensions_ensure_registered() }
            isRegistered = true
            return write(markdown, headingsFrom: level)
        }
    }

    private static func write(_ markdown: String, headingsFrom level: Int) -> String {
        guard let parser = cmark_parser_new(CMARK_OPT_VALIDATE_UTF8) else { return "" }
        defer { cmark_parser_free(parser) }
        if let table = cmark_find_syntax_extension("table") { cmark_parser_attach_syntax_extension(parser, table) }
        cmark_parser_feed(parser, markdown, markdown.utf8.count)
        guard let document = cmark_parser_finish(parser) else { return "" }
        defer { cmark_node_free(document) }
        // Children first: a node that is replaced takes its children along.
        for node in nodes(of: document).reversed() { change(node, headingsFrom: level) }
        guard let text = cmark_render_html(document, CMARK_OPT_DEFAULT, cmark_parser_get_syntax_extensions(parser)) else { return "" }
        defer { free(text) }
        return finish(String(cString: text))
    }

    private typealias Node = OpaquePointer

    /// All nodes, each after its parent.
    private static func nodes(of document: Node) -> [Node] {
        let iterator = cmark_iter_new(document)
        defer { cmark_iter_free(iterator) }
        var nodes: [Node] = []
        while true {
            switch cmark_iter_next(iterator) {
            case CMARK_EVENT_DONE: return nodes
            case CMARK_EVENT_ENTER: if let node = cmark_iter_get_node(iterator) { nodes.append(node) }
            default: continue
            }
        }
    }

    private static func change(_ node: Node, headingsFrom level: Int) {
        switch cmark_node_get_type(node) {
        case CMARK_NODE_HEADING:
            cmark_node_set_heading_level(node, min(6, cmark_node_get_heading_level(node) + Int32(level) - 1))
        case CMARK_NODE_HTML_INLINE:
            replace(node, with: text(of: node))
        case CMARK_NODE_HTML_BLOCK:
            guard let paragraph = cmark_node_new(CMARK_NODE_PARAGRAPH) else { return }
            cmark_node_append_child(paragraph, text(of: node))
            replace(node, with: paragraph)
        case CMARK_NODE_IMAGE: remove(node)
        case CMARK_NODE_LINK where !isSafe(cmark_node_get_url(node).map { String(cString: $0) } ?? ""): remove(node)
        default: break
        }
    }

    private static func text(of node: Node) -> Node? {
        let text = cmark_node_new(CMARK_NODE_TEXT)
        cmark_node_set_literal(text, cmark_node_get_literal(node))
        return text
    }

    private static func replace(_ node: Node, with other: Node?) {
        cmark_node_replace(node, other)
        cmark_node_free(node)
    }

    /// Leaves the contents in place of the node.
    private static func remove(_ node: Node) {
        while let inner = cmark_node_first_child(node) { cmark_node_insert_before(node, inner) }
        cmark_node_unlink(node)
        cmark_node_free(node)
    }

    /// Addresses of the web, of mail and within the site; never a scheme that runs something.
    private static func isSafe(_ target: String) -> Bool {
        let known = ["https://", "http://", "mailto:", "/", "#"].contains { target.lowercased().hasPrefix($0) }
        return known || !target.contains(":")
    }

    /// What the stylesheet and readers with a keyboard need. Text is escaped, so a `<` in the library's output always begins a tag.
    private static func finish(_ html: String) -> String {
        [
            ("<pre><code", "<pre tabindex=\"0\"><code"), ("<table>", "<div class=\"scroll\"><table>"), ("</table>", "</table></div>"),
            ("<th>", "<th scope=\"col\">"), ("<th align", "<th scope=\"col\" align"), ("<a href", "<a rel=\"noreferrer\" href"),
        ].reduce(html) { $0.replacing($1.0, with: $1.1) }.trimmingCharacters(in: .newlines)
    }
}
