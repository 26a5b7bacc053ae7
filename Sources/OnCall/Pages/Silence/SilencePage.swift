import Alerting
import PushContract

/// The form for a silence, with the firing alerts it would mute.
struct SilencePage {
    struct MutedAlert {
        let name: String
        let path: String
    }

    let frame: PageFrame
    let name: String
    let path: String
    let back: String
    let matchers: String
    let muted: [MutedAlert]
    let mutesSome: Bool
    let choices: [FormChoice]

    /// - Parameter firing: every alert that fires now.
    init(_ alert: Alert, firing: [Alert], reader: String, now: Timestamp) {
        frame = PageFrame(title: "Silence \(alert.rule) · Pushwatch", person: reader, now: now)
        name = AlertWords.name(alert)
        back = alert.pagePath
        path = alert.pagePath + "/silence"
        let matchers = SilenceDraft.matchers(of: alert)
        self.matchers = matchers.map { "\($0.name) = \($0.value)" }.joined(separator: " and ")
        muted = firing.filter { other in matchers.allSatisfy { $0.matches(other.labels) } }
            .map { MutedAlert(name: AlertWords.summary($0), path: $0.pagePath) }
        mutesSome = !muted.isEmpty
        choices = SilenceDraft.choices.map {
            FormChoice(value: "\($0)", label: DurationText.span(.seconds($0 * 60)), isChosen: $0 == SilenceDraft.choices[1])
        }
    }
}
