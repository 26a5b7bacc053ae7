import PushContract

/// Send rate, failures and latency.
struct TrafficView {
    struct ReasonRow {
        let reason: String
        let cssClass: String
        let recent: String
        let recentShare: String
        let whole: String
    }

    struct ProviderRow {
        let provider: String
        let rate: String
        let failed: String
        let mostly: String?
        let latency: String
    }

    struct TrafficRow {
        let time: String
        let timeAttribute: String
        let attempts: String
        let bad: String
        let share: String
    }

    /// How far back "lately" reaches.
    static let recentMinutes = 15
    static let bucketMinutes = 5
    static let tableMinutes = 15

    let rate: String
    let rateChart: String
    let failed: String
    let reasonChart: String
    let reasons: [ReasonRow]
    let hasReasons: Bool
    let providers: [ProviderRow]
    let hasProviders: Bool
    let table: [TrafficRow]

    init(_ traffic: Traffic) {
        let recent = traffic.newest(Self.recentMinutes)
        rate = NumberText.rate(recent.perMinute)
        rateChart = RateChart.svg(traffic.perMinute, from: traffic.from)
        failed = NumberText.share(recent.bucket.allBad, of: recent.bucket.attempts)
        let buckets = traffic.buckets(of: Self.bucketMinutes)
        reasonChart = ReasonChart.svg(buckets, from: traffic.from, minutesPerBucket: Self.bucketMinutes)
        reasons = Self.reasons(recent: recent.bucket, whole: traffic.newest(traffic.minutes).bucket)
        hasReasons = !reasons.isEmpty
        providers = Provider.allCases.compactMap { Self.line($0, traffic) }
        hasProviders = !providers.isEmpty
        table = Self.table(traffic)
    }

    /// In the order of the bars, from the top down.
    private static func reasons(recent: ReasonBucket, whole: ReasonBucket) -> [ReasonRow] {
        ReasonCode.drawingOrder.reversed().filter { whole.bad[$0] ?? 0 > 0 }.map { reason in
            ReasonRow(
                reason: reason.rawValue,
                cssClass: reason.cssClass,
                recent: NumberText.count(recent.bad[reason] ?? 0),
                recentShare: NumberText.share(recent.bad[reason] ?? 0, of: recent.attempts),
                whole: NumberText.count(whole.bad[reason] ?? 0)
            )
        }
    }

    private static func line(_ provider: Provider, _ traffic: Traffic) -> ProviderRow? {
        guard traffic.newest(traffic.minutes, provider: provider).bucket.attempts > 0 else { return nil }
        let recent = traffic.newest(recentMinutes, provider: provider)
        let most = recent.bucket.bad.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }
        return ProviderRow(
            provider: provider.rawValue,
            rate: NumberText.rate(recent.perMinute),
            failed: NumberText.share(recent.bucket.allBad, of: recent.bucket.attempts),
            mostly: most.map { "mostly \($0.key.rawValue)" },
            latency: recent.meanLatencyMs.map { "\(NumberText.count($0)) ms" } ?? "–"
        )
    }

    /// Newest first: who reads numbers asks about now.
    private static func table(_ traffic: Traffic) -> [TrafficRow] {
        traffic.buckets(of: tableMinutes).enumerated().reversed().map { index, bucket in
            let from = traffic.from + .seconds(index * tableMinutes * 60)
            return TrafficRow(
                time: ClockText.moment(from, now: from),
                timeAttribute: from.rfc3339,
                attempts: NumberText.count(bucket.attempts),
                bad: NumberText.count(bucket.allBad),
                share: NumberText.share(bucket.allBad, of: bucket.attempts)
            )
        }
    }
}
