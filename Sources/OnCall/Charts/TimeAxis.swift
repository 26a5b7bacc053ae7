import PushContract

/// The horizontal scale of a chart: a run of whole minutes.
struct TimeAxis {
    let from: Timestamp
    let minutes: Int

    private static let steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440]

    /// 0 at the left edge, 1 at the right one.
    func fraction(_ moment: Timestamp) -> Double {
        guard minutes > 0 else { return 0 }
        return min(max((moment - from).inSeconds / Double(minutes * 60), 0), 1)
    }

    /// Round moments with space for their labels: at most five, none at the very edge.
    var ticks: [Timestamp] {
        let step = Self.steps.first { minutes / $0 <= 5 } ?? 1_440 * max(1, (minutes + 7_199) / 7_200)
        let last = from.minute + Int64(minutes)
        var tick = (from.minute / Int64(step) + 1) * Int64(step)
        var ticks: [Timestamp] = []
        while tick < last {
            let moment = Timestamp(seconds: tick * 60)
            if (0.06...0.94).contains(fraction(moment)) { ticks.append(moment) }
            tick += Int64(step)
        }
        return ticks
    }

    func label(_ tick: Timestamp) -> String {
        showsDays ? String(ClockText.date(tick).dropFirst(5)) : ClockText.time(tick)
    }

    /// What the reader's own clock shows there; nil without a zone that differs from UTC, and for days, which are UTC's.
    func ownLabel(_ tick: Timestamp) -> String? {
        showsDays ? nil : ReaderZone.current?.wallClock(tick).map { "(\(ClockText.time($0)))" }
    }

    private var showsDays: Bool { minutes > 2 * 1_440 }
}
