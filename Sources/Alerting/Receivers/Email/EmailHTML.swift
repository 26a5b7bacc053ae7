import AlertRules
import ServiceKit

/// The HTML part of a mail: one column, inline styles, nothing loaded from anywhere.
enum EmailHTML {
    static func page(_ alert: AlertText) -> String {
        let lines =
            head(alert.title, preheader: "\(alert.state): \(alert.summary)") + alertSection(alert, heading: "h1") + ["</body>", "</html>"]
        return lines.joined(separator: "\n")
    }

    /// A list of all of them, and each with all that is known.
    static func page(_ group: GroupText) -> String {
        var lines = head(group.title, preheader: group.alerts.map { "\($0.state): \($0.summary)" }.joined(separator: "; "))
        lines += ["<h1 style=\"margin:0 0 12px;font-size:18px\">\(group.title.escapedHTML)</h1>", "<ul style=\"margin-top:0\">"]
        lines += group.alerts.map { "<li>\($0.state.escapedHTML): \($0.summary.escapedHTML)</li>" }
        lines += ["</ul>", "<p><a href=\"\(group.link.url.escapedHTML)\">\(group.link.text.escapedHTML)</a></p>"]
        for alert in group.alerts { lines += ["<hr>"] + alertSection(alert, heading: "h2") }
        return (lines + ["</body>", "</html>"]).joined(separator: "\n")
    }

    private static func head(_ title: String, preheader: String) -> [String] {
        [
            "<!doctype html>", "<html lang=\"en\">", "<head><meta charset=\"utf-8\"><title>\(title.escapedHTML)</title></head>",
            "<body style=\"margin:0;padding:16px;font:15px/1.5 system-ui,sans-serif;color:#1f2328;background:#ffffff\">",
            // What a list of mails shows before the mail is opened.
            "<div style=\"display:none;max-height:0;overflow:hidden\">\(preheader.escapedHTML)</div>",
        ]
    }

    private static func alertSection(_ alert: AlertText, heading: String) -> [String] {
        let color = alert.message.kind == .resolved ? "#1a7f37" : alert.message.severity.pages ? "#b42318" : "#9a6700"
        var lines = [
            "<p style=\"margin:0 0 4px;font-weight:700;color:\(color)\">\(alert.state.escapedHTML)</p>",
            "<\(heading) style=\"margin:0 0 12px;font-size:18px\">\(alert.summary.escapedHTML)</\(heading)>",
        ]
        if let meaning = alert.meaning { lines.append("<p>\(meaning.escapedHTML)</p>") }
        if let action = alert.action { lines.append("<p><strong>What to do:</strong> \(action.escapedHTML)</p>") }
        lines.append("<table role=\"presentation\" style=\"border-collapse:collapse\">")
        lines += alert.facts.map {
            "<tr><th style=\"text-align:left;padding:2px 16px 2px 0;font-weight:600\">\($0.name.escapedHTML)</th>"
                + "<td>\($0.value.escapedHTML)</td></tr>"
        }
        lines.append("</table>")
        if !alert.contributors.isEmpty {
            lines += ["<p style=\"margin-bottom:4px\"><strong>Most affected</strong></p>", "<ul style=\"margin-top:0\">"]
            lines += alert.contributors.map { "<li>\($0.escapedHTML)</li>" }
            lines.append("</ul>")
        }
        let links = alert.links.map { "<a href=\"\($0.url.escapedHTML)\">\($0.text.escapedHTML)</a>" }
        return lines + ["<p>\(links.joined(separator: " · "))</p>"]
    }
}
