import Alerting
import PushContract
import Delivery

/// One of the values a form offers.
struct FormChoice {
    let value: String
    let label: String
    let isChosen: Bool
}

/// What a silence would hold back, before it is made.
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

/// What a throttle would slow down, before it is set.
struct ThrottlePage {
    struct Current {
        let text: String
        let provider: String
        let app: String
    }

    let frame: PageFrame
    let back: String
    let waiting: String
    let current: [Current]
    let hasCurrent: Bool
    let providers: [FormChoice]
    let rates: [FormChoice]
    let choices: [FormChoice]

    init(_ throttles: [SendThrottle], backlog: Backlog, provider: Provider?, back: ReturnPath, reader: String, now: Timestamp) {
        frame = PageFrame(title: "Throttle · Pushwatch", person: reader, now: now)
        self.back = back.path
        let throttled = backlog.queues.filter { !$0.queue.isCritical && (provider == nil || $0.queue.provider == provider) }
        waiting = NumberText.count(throttled.reduce(0) { $0 + $1.ready + $1.retrying })
        current = throttles.map { throttle in
            Current(
                text: "\(ProviderName.text(throttle.provider))\(throttle.app.map { ", \($0)" } ?? ""): at most "
                    + "\(NumberText.rate(throttle.perMinute)) a minute until \(ClockText.moment(throttle.expiresAt, now: now)), "
                    + "by \(throttle.author): \(throttle.reason)",
                provider: throttle.provider.rawValue,
                app: throttle.app ?? ""
            )
        }
        hasCurrent = !current.isEmpty
        providers =
            Provider.allCases.map { FormChoice(value: $0.rawValue, label: ProviderName.text($0), isChosen: $0 == provider) } + [
                FormChoice(value: "both", label: "both", isChosen: provider == nil)
            ]
        rates = ThrottleDraft.rates.map {
            FormChoice(
                value: "\($0)",
                label: $0 == 0 ? "none but a probe" : "\(NumberText.count($0)) a minute",
                isChosen: $0 == ThrottleDraft.rates[1]
            )
        }
        choices = ThrottleDraft.choices.map {
            FormChoice(value: "\($0)", label: DurationText.span(.seconds($0 * 60)), isChosen: $0 == ThrottleDraft.choices[1])
        }
    }
}
