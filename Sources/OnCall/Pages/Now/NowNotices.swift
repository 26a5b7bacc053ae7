import PushContract

/// Faults that make the rest of the page unreliable.
enum NowNotices {
    static func texts(notificationHealth: NotificationHealth, evaluation: EvaluationHealth, now: Timestamp) -> [String] {
        var texts: [String] = []
        switch evaluation.verdict(now: now) {
        case .late(let through):
            texts.append(
                "Rules are evaluated only through \(ClockText.moment(through, now: now)) (\(DurationText.ago(through, now: now))). "
                    + "What happened since then raises no alert and resolves none."
            )
        case .noRules: texts.append("No alert rules are in force, so nothing can fire.")
        case .notYet: texts.append("No rule has been evaluated yet. The first evaluation comes a minute after the start.")
        case .upToDate: break
        }
        // Before the first evaluation there is a notice about all rules.
        if evaluation.neverEvaluated > 0, evaluation.evaluated > 0 {
            let rules = evaluation.neverEvaluated == 1 ? "1 rule was" : "\(evaluation.neverEvaluated) rules were"
            texts.append("\(rules) never evaluated and cannot fire; the page Rules shows which.")
        }
        if let fault = evaluation.faults.first {
            let more = evaluation.faults.count > 1 ? " and \(evaluation.faults.count - 1) more" : ""
            texts.append("The rule files have errors; the rules in force are older than the files. \(fault)\(more)")
        }
        if let fault = notificationHealth.fileFault {
            texts.append("receivers.yml has an error and is not in force. \(fault)")
        }
        if let oldest = notificationHealth.oldestPendingAt, now - oldest > .seconds(60) {
            texts.append(
                "\(notificationHealth.pending) alert messages wait to be delivered, the oldest since \(ClockText.moment(oldest, now: now))."
            )
        }
        if notificationHealth.lost > 0 {
            texts.append("\(notificationHealth.lost) alert messages of the last day were refused or given up.")
        }
        return texts
    }
}
