import AlertRules

/// A message published to ntfy as JSON.
struct NtfyMessage: Encodable {
    struct Action: Encodable {
        let action = "view"
        var label: String
        var url: String
    }

    /// Of the whole body; ntfy turns a longer message into an attachment, which a locked phone does not show.
    static let maxBytes = 4096

    let topic: String
    let title: String
    var message: String
    /// 1–5; 5 sounds even in do-not-disturb mode.
    let priority: Int
    let tags: [String]
    /// What a tap opens.
    let click: String
    let actions: [Action]

    init(_ alert: AlertText, topic: String) {
        self.topic = topic
        title = alert.title.cut(toBytes: 250)
        message = alert.plain
        priority = Self.priority(alert.message)
        tags = [alert.message.kind == .resolved ? "white_check_mark" : alert.message.severity.pages ? "rotating_light" : "warning"]
        click = alert.message.pageURL
        // ntfy takes three actions.
        actions = alert.links.prefix(3).filter { $0.url.utf8.count <= 500 }.map { Action(label: $0.text, url: $0.url) }
    }

    /// A line for each alert; a tap opens all of them.
    init(_ group: GroupText, topic: String) {
        self.topic = topic
        title = group.title.cut(toBytes: 250)
        message = group.plain(inFull: false)
        priority = group.group.messages.map(Self.priority).max() ?? 3
        tags = [group.group.isFiring ? "warning" : "white_check_mark"]
        click = group.link.url
        actions = [group.link].filter { $0.url.utf8.count <= 500 }.map { Action(label: $0.text, url: $0.url) }
    }

    /// The body as JSON, the message cut until it fits.
    func data() throws -> [UInt8] {
        var shorter = self
        while true {
            let data = try AlertJSON.data(shorter)
            let excess = data.count - Self.maxBytes
            guard excess > 0, !shorter.message.isEmpty else { return Array(data) }
            // Escapes make the JSON longer than the text, so cutting the excess off the text always suffices in the end.
            shorter.message = shorter.message.cut(toBytes: max(0, shorter.message.utf8.count - max(excess / 2, 8)))
        }
    }

    static func priority(_ message: AlertNotification) -> Int {
        guard message.kind == .firing, message.event != .reopened else { return message.severity.pages ? 3 : 2 }
        switch message.severity {
        case .critical: return 5
        case .page: return 4
        case .ticket: return 3
        case .info: return 2
        }
    }
}
