import Delivery
import PushContract

/// The form for a throttle, with the deliveries it would slow down.
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
        waiting = NumberText.count(throttled.reduce(0) { $0 + $1.waiting })
        current = throttles.map { throttle in
            Current(
                text: "\(throttle.provider.displayName)\(throttle.app.map { ", \($0)" } ?? ""): at most "
                    + "\(NumberText.rate(throttle.perMinute)) a minute until \(ClockText.moment(throttle.expiresAt, now: now)), "
                    + "by \(throttle.author): \(throttle.reason)",
                provider: throttle.provider.rawValue,
                app: throttle.app ?? ""
            )
        }
        hasCurrent = !current.isEmpty
        providers =
            Provider.allCases.map { FormChoice(value: $0.rawValue, label: $0.displayName, isChosen: $0 == provider) } + [
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
