import Foundation
import Testing

@testable import OnCall

@Suite("Runbooks as HTML")
struct MarkdownTests {
    @Test(
        "the subset",
        arguments: [
            ("# One\n\ntext\nmore", "<h2>One</h2>\n<p>text\nmore</p>"),
            ("- a\n- b `c`", "<ul>\n<li>a</li>\n<li>b <code>c</code></li>\n</ul>"),
            (
                "1. **Snapshot.** at\n   this\n\n2. go",
                "<ol>\n<li>\n<p><strong>Snapshot.</strong> at\nthis</p>\n</li>\n<li>\n<p>go</p>\n</li>\n</ol>"
            ),
            ("```sql\nSELECT 1 < 2;\n```", "<pre tabindex=\"0\"><code class=\"language-sql\">SELECT 1 &lt; 2;\n</code></pre>"),
            ("[x](https://e.org/?a=1&b=2)", "<p><a rel=\"noreferrer\" href=\"https://e.org/?a=1&amp;b=2\">x</a></p>"),
            ("2 * 3 * 4 and `a|b`", "<p>2 * 3 * 4 and <code>a|b</code></p>"),
            ("unclosed `code and **strong", "<p>unclosed `code and **strong</p>"),
        ]
    )
    func subset(_ markdown: String, _ html: String) {
        #expect(MarkdownHTML.html(markdown) == html)
    }

    @Test("code and tables stand within list items")
    func nested() {
        let markdown =
            "1. Find:\n\n   ```sql\n   SELECT\n     1\n   ```\n2. Decide:\n\n   | a | b |\n   |---|---|\n   | `x\\|y` | z |\n\nEnd."
        let html = MarkdownHTML.html(markdown)
        #expect(html.contains("<li>\n<p>Find:</p>\n<pre tabindex=\"0\"><code class=\"language-sql\">SELECT\n  1\n</code></pre>\n</li>"))
        #expect(html.contains("<div class=\"scroll\"><table>") && html.contains("<th scope=\"col\">a</th>"))
        #expect(html.contains("<td><code>x|y</code></td>\n<td>z</td>"))
        #expect(html.hasSuffix("</ol>\n<p>End.</p>"))
    }

    @Test(
        "nothing in a runbook becomes markup or runs",
        arguments: [
            "<script>alert(1)</script>", "[x](javascript:alert(1))", "[x](JaVaScript:alert(1))", "# <img src=x>", "`<b>`",
            "| <i> |\n|---|\n| <u> |", "text <img src=x onerror=alert(1)> text", "<div>\n<script>alert(1)</script>\n</div>",
            "![x](javascript:alert(1))",
            "[x](data:text/html,1)", "<javascript:alert(1)>", "[x][1]\n\n[1]: javascript:alert(1)", "<!-- <script> -->", "&lt;script&gt;",
        ]
    )
    func hostile(_ markdown: String) {
        let html = MarkdownHTML.html(markdown)
        for tag in ["<script", "<img", "<b>", "<i>", "<u>", "<div>", "<!--", "href=\"java", "href=\"Java", "href=\"data"] {
            #expect(!html.contains(tag))
        }
    }

    @Test("raw HTML is shown as text; an image and a link that may not be followed are shown as their text")
    func asText() {
        #expect(MarkdownHTML.html("revoke <id> now") == "<p>revoke &lt;id&gt; now</p>")
        #expect(MarkdownHTML.html("<div>\nx\n</div>") == "<p>&lt;div&gt;\nx\n&lt;/div&gt;\n</p>")
        #expect(
            MarkdownHTML.html("![an *image*](/x.png) and [a `link`](ftp://e.org)") == "<p>an <em>image</em> and a <code>link</code></p>"
        )
    }

    @Test("deep nesting and long lines end")
    func deep() {
        let deep = (0..<200).map { String(repeating: "  ", count: $0) + "- x" }.joined(separator: "\n")
        #expect(!MarkdownHTML.html(deep).isEmpty)
    }

    @Test("every runbook of the project is rendered whole")
    func shipped() throws {
        let alerts = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../alerts").standardizedFileURL.path
        let names = try FileManager.default.contentsOfDirectory(atPath: alerts + "/runbooks").filter { $0.hasSuffix(".md") }
        #expect(names.count >= 3)
        for name in names {
            let text = try #require(RunbookDirectory(alertsDirectory: alerts).text(named: name))
            let html = MarkdownHTML.html(text)
            let tables = text.matches(of: /(?m)^ *\|[-: |]+\|$/).count
            #expect(html.matches(of: /<table>/).count == tables, "\(name)")
            #expect(!html.contains("```") && !html.contains("**") && !html.contains("<p>|") && !html.contains("<p>#"))
        }
    }

    @Test("no name leaves the directory", arguments: ["../README.md", "..", "a/b.md", ".hidden.md", "x.txt", "", "/etc/passwd", "a%2f.md"])
    func names(_ name: String) {
        #expect(RunbookDirectory(alertsDirectory: "/tmp").text(named: name) == nil)
        #expect(RunbookDirectory.name(of: "runbooks/" + name) == nil)
    }
}
