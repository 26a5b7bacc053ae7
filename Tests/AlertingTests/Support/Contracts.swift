import Foundation

/// Fakes of services that cannot run here: each checks a message against the documented limits and answers as the service would.
enum Contracts {
    /// Slack incoming webhook.
    @Sendable static func slack(_ got: Hook.Got) -> Hook.Answer {
        let invalid = Hook.Answer(status: 400, body: "invalid_payload")
        guard got.headers["content-type"] == "application/json", let text = got.json["text"] as? String, text.count <= 40_000 else {
            return invalid
        }
        guard let blocks = got.json["blocks"] as? [[String: Any]], (1...50).contains(blocks.count) else { return invalid }
        var total = 0
        for block in blocks {
            let own = (block["text"] as? [String: Any]).map { [$0] } ?? []
            let fields = block["fields"] as? [[String: Any]] ?? []
            let elements = block["elements"] as? [[String: Any]] ?? []
            guard fields.count <= 10, elements.count <= 10, !(own + fields + elements).isEmpty else { return invalid }
            for (item, limit) in own.map({ ($0, 3000) }) + fields.map({ ($0, 2000) }) + elements.map({ ($0, 3000) }) {
                guard item["type"] as? String == "mrkdwn", let text = item["text"] as? String, (1...limit).contains(text.count) else {
                    return invalid
                }
                total += text.count
            }
        }
        return total < 12_000 ? Hook.Answer(status: 200, body: "ok") : Hook.Answer(status: 400, body: "msg_blocks_too_long")
    }

    /// A Slack app: `chat.postMessage` with blocks or a reply in a thread, and `chat.update`.
    @Sendable static func slackApp(_ got: Hook.Got) -> Hook.Answer {
        func refuse(_ why: String) -> Hook.Answer { Hook.Answer(status: 200, body: #"{"ok":false,"error":"\#(why)"}"#) }
        guard got.headers["authorization"]?.hasPrefix("Bearer xoxb-") == true else { return refuse("not_authed") }
        guard got.headers["content-type"] == "application/json; charset=utf-8" else { return refuse("invalid_post_type") }
        guard let channel = got.json["channel"] as? String, !channel.isEmpty else { return refuse("channel_not_found") }
        guard let text = got.json["text"] as? String, (1...40_000).contains(text.count) else { return refuse("msg_too_long") }
        if got.json["blocks"] != nil {
            var asWebhook = got
            asWebhook.headers["content-type"] = "application/json"
            guard slack(asWebhook).status == 200 else { return refuse("invalid_blocks") }
        } else if got.json["thread_ts"] as? String == nil {
            return refuse("no_text")
        }
        return Hook.Answer(status: 200, body: #"{"ok":true,"channel":"\#(channel)","ts":"1.2"}"#)
    }

    /// PagerDuty Events API v2.
    @Sendable static func pagerDuty(_ got: Hook.Got) -> Hook.Answer {
        func refuse(_ why: String) -> Hook.Answer {
            Hook.Answer(status: 400, body: #"{"status":"invalid event","message":"Event object is invalid","errors":["\#(why)"]}"#)
        }
        guard got.body.count <= 512 * 1024 else { return refuse("size") }
        guard let key = got.json["routing_key"] as? String, key.count == 32 else { return refuse("routing_key") }
        let action = got.json["event_action"] as? String ?? ""
        guard ["trigger", "acknowledge", "resolve"].contains(action) else { return refuse("event_action") }
        guard let dedup = got.json["dedup_key"] as? String, (1...255).contains(dedup.count) else { return refuse("dedup_key") }
        guard let payload = got.json["payload"] as? [String: Any] else { return refuse("payload") }
        guard let summary = payload["summary"] as? String, (1...1024).contains(summary.count) else { return refuse("summary") }
        guard payload["source"] is String else { return refuse("source") }
        guard ["critical", "error", "warning", "info"].contains(payload["severity"] as? String) else { return refuse("severity") }
        for link in got.json["links"] as? [[String: Any]] ?? [] where !(link["href"] is String) { return refuse("links") }
        return Hook.Answer(status: 202, body: #"{"status":"success","message":"Event processed","dedup_key":"\#(dedup)"}"#)
    }

    /// ntfy's publishing as JSON.
    @Sendable static func ntfy(_ got: Hook.Got) -> Hook.Answer {
        let refused = Hook.Answer(status: 400, body: #"{"code":40024,"http":400,"error":"invalid request: body must be valid JSON"}"#)
        guard let topic = got.json["topic"] as? String, topic.wholeMatch(of: /[-_A-Za-z0-9]{1,64}/) != nil else { return refused }
        guard let message = got.json["message"] as? String, message.utf8.count <= 4096, got.body.count <= 4096 else {
            return Hook.Answer(status: 413, body: #"{"code":41303,"http":413,"error":"message too large"}"#)
        }
        guard let priority = got.json["priority"] as? Int, (1...5).contains(priority) else { return refused }
        guard let actions = got.json["actions"] as? [[String: Any]], actions.count <= 3, !message.isEmpty else { return refused }
        for action in actions where action["action"] as? String != "view" || !(action["url"] is String) { return refused }
        return Hook.Answer(status: 200, body: #"{"id":"x","event":"message","topic":"\#(topic)"}"#)
    }
}
