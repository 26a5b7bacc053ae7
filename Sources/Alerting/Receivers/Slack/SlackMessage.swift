import AlertRules

/// The body for a Slack incoming webhook.
///
/// Slack's limits: 50 blocks, 3,000 characters in a section, 150 in a header, 40,000 in a message; in all blocks together about 13,200,
/// which is not documented (bolt-js#2509). We stay below 12,000.
struct SlackMessage: Encodable {
    struct Text: Encodable {
        var type: String
        var text: String
    }

    struct Block: Encodable {
        var type: String
        var text: Text?
        var fields: [Text]?
        var elements: [Text]?
    }

    static let maxSectionLength = 3000

    /// What notifications and screen readers show. The same first line for every message of an alert.
    let text: String
    let blocks: [Block]

    init(_ alert: AlertText) {
        let title = "*\(Self.escaped(alert.title).cut(toCharacters: 250))*"
        let head = "\(Self.mark(alert)) \(alert.state): \(Self.escaped(alert.summary))".cut(toCharacters: 1500)
        text = title + "\n" + head
        var blocks = [Self.section(title + "\n" + head)]
        for text in [alert.meaning, alert.action.map { "*What to do:* \($0)" }].compactMap({ $0 }) {
            blocks.append(Self.section(Self.escaped(text).cut(toCharacters: 2000)))
        }
        // Slack takes ten fields in a section.
        let fields = alert.facts.prefix(10).map {
            Text(type: "mrkdwn", text: "*\($0.name)*\n\(Self.escaped($0.value).cut(toCharacters: 200))")
        }
        blocks.append(Block(type: "section", fields: Array(fields)))
        if !alert.contributors.isEmpty {
            let lines = alert.contributors.map { "• " + Self.escaped($0).cut(toCharacters: 300) }
            blocks.append(Self.section("*Most affected*\n" + lines.joined(separator: "\n")))
        }
        let links = alert.links.filter { $0.url.count <= 500 }.map { "<\(Self.escaped($0.url))|\($0.text)>" }
        blocks.append(Block(type: "context", elements: [Text(type: "mrkdwn", text: links.joined(separator: " · "))]))
        self.blocks = blocks
    }

    /// A line for each alert, with a link to it.
    init(_ group: GroupText) {
        let title = "*\(Self.escaped(group.title).cut(toCharacters: 250))*"
        text = title
        var sections: [String] = []
        for alert in group.alerts {
            let line = Self.line(alert)
            if let last = sections.last, last.count + line.count < Self.maxSectionLength {
                sections[sections.count - 1] = last + "\n" + line
            } else {
                sections.append(line)
            }
        }
        let link = "<\(Self.escaped(group.link.url))|\(group.link.text)>"
        blocks =
            [Self.section(title)] + sections.map(Self.section)
            + (group.link.url.count <= 500 ? [Block(type: "context", elements: [Text(type: "mrkdwn", text: link)])] : [])
    }

    /// At most 280 characters, so that forty of them stay within a message.
    private static func line(_ alert: AlertText) -> String {
        let head = "\(mark(alert)) \(escaped(alert.state).cut(toCharacters: 40)): "
        let tail = " (\(escaped(alert.message.rule).cut(toCharacters: 60)) #\(alert.shortId))"
        let url = escaped(alert.message.pageURL)
        let isLinked = url.count <= 120
        let limit = 280 - head.count - tail.count - (isLinked ? url.count + 3 : 0)
        let summary = escaped(alert.summary.split(whereSeparator: \.isNewline).joined(separator: " ")).cut(toCharacters: limit)
        return head + (isLinked ? "<\(url)|\(summary)>" : summary) + tail
    }

    /// The three characters that Slack's markup requires to be escaped; others must not be.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    private static func section(_ text: String) -> Block {
        Block(type: "section", text: Text(type: "mrkdwn", text: text.cut(toCharacters: maxSectionLength)))
    }

    private static func mark(_ alert: AlertText) -> String {
        guard alert.message.kind == .firing else { return ":white_check_mark:" }
        return alert.message.severity.pages ? ":red_circle:" : ":large_yellow_circle:"
    }
}
