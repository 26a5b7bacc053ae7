import PushContract

/// The page of deliveries as its template sees it.
struct DeliveriesPage {
    struct TryLine {
        let when: String
        let whenAttribute: String
        let receiver: String
        let alert: String
        let path: String
        let result: String
        let isBad: Bool
        let detail: String?
    }

    struct OpenLine {
        let receiver: String
        let alert: String
        let path: String
        let state: String
        let next: String
        let detail: String?
    }

    let frame: PageFrame
    let headline: String
    let open: [OpenLine]
    let hasOpen: Bool
    let tries: [TryLine]
    let hasTries: Bool

    init(_ data: DeliveriesData, reader: String, now: Timestamp) {
        let parked = data.open.filter { $0.state == "parked" }.count
        let waiting = data.open.count - parked
        frame = PageFrame(title: "Deliveries · Pushwatch", mood: parked > 0 ? .alarmed : .calm, person: reader, now: now)
        headline = data.open.isEmpty ? "Every alert was delivered" : "\(waiting) waiting, \(parked) refused for good"
        open = data.open.map { open in
            OpenLine(
                receiver: open.receiver,
                alert: "\(open.rule), \(open.kind)",
                path: "/oncall/alerts/\(open.episodeId)",
                state: open.state,
                next: open.state == "parked" ? "none" : SpanText.ago(open.nextAttemptAt, now: now),
                detail: open.error
            )
        }
        hasOpen = !open.isEmpty
        tries = data.tries.map { attempt in
            TryLine(
                when: ClockText.moment(attempt.attemptedAt, now: now),
                whenAttribute: attempt.attemptedAt.rfc3339,
                receiver: attempt.receiver,
                alert: attempt.rule ?? attempt.episodeId,
                path: "/oncall/alerts/\(attempt.episodeId)",
                result: [attempt.result, attempt.status.map { "HTTP \($0)" }, "\(NumberText.count(attempt.latencyMs)) ms"]
                    .compactMap { $0 }.joined(separator: ", "),
                isBad: attempt.result != "delivered",
                detail: attempt.error
            )
        }
        hasTries = !tries.isEmpty
    }
}
