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
    /// `1,310 non-critical deliveries wait`
    let waiting: String
    let current: [Current]
    let hasCurrent: Bool
    let providers: [FormChoice]
    /// The app that was asked for, and every app; empty when none was.
    let apps: [FormChoice]
    let hasApps: Bool
    let rates: [FormChoice]
    let choices: [FormChoice]

    init(
        _ throttles: [SendThrottle],
        backlog: Backlog,
        provider: Provider?,
        app: String? = nil,
        back: ReturnPath,
        reader: String,
        now: Timestamp
    ) {
        frame = PageFrame(title: "Throttle · Pushwatch", person: reader, now: now)
        self.back = back.path
        let throttled = backlog.queues.filter { entry -> Bool in
            let queue = entry.queue
            return !queue.isCritical && (provider == nil || queue.provider == provider) && (app == nil || queue.app == app)
        }
        let count = throttled.reduce(0) { $0 + $1.waiting }
        let ofApp = app.map { " of \($0)" } ?? ""
        waiting = "\(NumberText.count(count)) non-critical " + (count == 1 ? "delivery\(ofApp) waits" : "deliveries\(ofApp) wait")
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
        apps =
            app.map {
                [FormChoice(value: $0, label: $0, isChosen: true), FormChoice(value: "", label: "every app", isChosen: false)]
            } ?? []
        hasApps = app != nil
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
