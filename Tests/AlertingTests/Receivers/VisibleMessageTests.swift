import AlertRules
import Testing

@testable import Alerting

@Suite("What callers reported, in messages")
struct VisibleMessageTests {
    @Test("no label, code or annotation reorders or hides what stands around it in a message")
    func invisible() {
        let text = "a\u{202E}b\u{2066}c"
        var message = Messages.firing
        message.group["app"] = text
        message.labels["app"] = text
        message.annotations = ["summary": text, "meaning": text, "action": text, "accepted": text]
        message.contributors[0].value = text
        let alert = AlertText(message)
        let parts = [alert.title, alert.summary, alert.meaning, alert.action, alert.facts.first { $0.name == "Accepted" }?.value]
        for part in parts + alert.contributors {
            #expect(part?.contains("a⟨U+202E⟩b⟨U+2066⟩c") == true, "\(part ?? "nil")")
        }
        let details = PagerDutyDetails(alert)
        #expect(details.labels["app"] == "a⟨U+202E⟩b⟨U+2066⟩c" && details.annotations?["summary"] == details.labels["app"])
        #expect(!alert.plain.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{2066}" })
    }
}
