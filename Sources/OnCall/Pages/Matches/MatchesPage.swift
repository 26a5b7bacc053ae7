import PushContract

/// The page of matches and other subjects as its template sees it.
struct MatchesPage {
    struct Row {
        let name: String
        let path: String
        let status: String
        let detail: String
        let followers: String
        let pending: String
        let active: String
        let ended: String
        let behind: String
        let isBehind: Bool
        let feedWarning: String?
    }

    let frame: PageFrame
    let headline: String
    let pushes: String
    let failures: [String]
    let subjects: [Row]
    let hasSubjects: Bool

    init(_ data: MatchesData, reader: String, now: Timestamp) {
        frame = PageFrame(title: "Live · Pushwatch", refreshSeconds: 30, person: reader, now: now)
        let running = data.subjects.filter { !$0.isOver }
        let active = data.subjects.reduce(0) { $0 + $1.active }
        headline =
            running.isEmpty
            ? "Nothing is on"
            : "\(running.count) on, \(NumberText.count(active)) \(active == 1 ? "Live Activity" : "Live Activities")"
        pushes = Self.words(data.pushes)
        failures = data.pushes.failures.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { reason, count in
            "\(NumberText.count(count)) \(reason) (\(NumberText.share(count, of: data.pushes.attempts)))"
        }
        subjects = data.subjects.map { Self.line($0, now: now) }
        hasSubjects = !subjects.isEmpty
    }

    private static func words(_ pushes: ActivityPushes) -> String {
        guard pushes.attempts > 0 else { return "No Live Activity push in the last \(ActivityPushes.minutes) minutes." }
        let latency = pushes.meanLatencyMs.map { ", \(NumberText.count($0)) ms on average" } ?? ""
        let rate = NumberText.rate(Double(pushes.attempts) / Double(ActivityPushes.minutes))
        let failed = pushes.failures.values.reduce(0, +)
        return "\(rate) pushes a minute over \(ActivityPushes.minutes) min\(latency), "
            + "\(failed == 0 ? "none" : NumberText.share(failed, of: pushes.attempts)) failed."
    }

    private static func line(_ subject: SubjectSummary, now: Timestamp) -> Row {
        Row(
            name: subject.title ?? subject.subject,
            path: MatchPath.path(subject: subject.subject),
            status: subject.status ?? subject.phase,
            detail:
                "\(subject.phase), \(subject.title == nil ? "" : "\(subject.subject), ")updated \(DurationText.ago(subject.updatedAt, now: now))",
            followers: NumberText.count(subject.followers),
            pending: NumberText.count(subject.pending),
            active: NumberText.count(subject.active),
            ended: NumberText.count(subject.ended),
            behind: NumberText.count(subject.behind),
            isBehind: subject.behind > 0 && !subject.isOver,
            feedWarning: subject.feedSilentSince.map { "Its source has confirmed nothing for \(DurationText.span(now - $0))." }
        )
    }
}
