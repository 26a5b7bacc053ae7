import PushContract

/// One minute's attempts that reached an outcome, and those that failed.
struct MinuteTraffic: Hashable {
    var attempts: Int64 = 0
    var bad: Int64 = 0
}

/// Attempts of several minutes by reason.
struct ReasonBucket: Hashable {
    var attempts: Int64 = 0
    var bad: [ReasonCode: Int64] = [:]

    var allBad: Int64 { bad.values.reduce(0, +) }
    /// 0–1; 0 without attempts.
    var badShare: Double { attempts > 0 ? Double(allBad) / Double(attempts) : 0 }
}

/// The last hours of sends, ready to be drawn and summed up.
struct Traffic {
    /// A whole minute.
    let from: Timestamp
    let minutes: Int
    private let cells: [TrafficCell]

    init(from: Timestamp, minutes: Int, cells: [TrafficCell]) {
        self.from = from
        self.minutes = minutes
        self.cells = cells.filter { (0..<Int64(minutes)).contains($0.minute - from.minute) }
    }

    /// One value for each minute; minutes without rows count as none.
    var perMinute: [MinuteTraffic] {
        var result = [MinuteTraffic](repeating: MinuteTraffic(), count: minutes)
        for cell in cells {
            let index = Int(cell.minute - from.minute)
            result[index].attempts += cell.attempts
            if cell.reason != nil { result[index].bad += cell.attempts }
        }
        return result
    }

    /// One value for each run of `length` minutes.
    func buckets(of length: Int) -> [ReasonBucket] {
        var result = [ReasonBucket](repeating: ReasonBucket(), count: (minutes + length - 1) / length)
        for cell in cells { result[Int(cell.minute - from.minute) / length].add(cell) }
        return result
    }

    /// The newest `count` minutes, of one provider or of all.
    func newest(_ count: Int, provider: Provider? = nil) -> TrafficSummary {
        let first = from.minute + Int64(max(0, minutes - count))
        return cells.reduce(into: TrafficSummary(minutes: min(count, minutes))) { summary, cell in
            guard cell.minute >= first, provider == nil || cell.provider == provider else { return }
            summary.bucket.add(cell)
            summary.latencyMsSum += cell.latencyMsSum
            summary.latencyCount += cell.latencyCount
        }
    }
}

/// Some minutes summed up.
struct TrafficSummary: Hashable {
    var minutes: Int
    var bucket = ReasonBucket()
    var latencyMsSum: Int64 = 0
    var latencyCount: Int64 = 0

    var perMinute: Double { minutes > 0 ? Double(bucket.attempts) / Double(minutes) : 0 }

    /// The mean of those that have one. Sums cannot give a median.
    var meanLatencyMs: Int64? { latencyCount > 0 ? latencyMsSum / latencyCount : nil }
}

extension ReasonBucket {
    fileprivate mutating func add(_ cell: TrafficCell) {
        attempts += cell.attempts
        if let reason = cell.reason { bad[reason, default: 0] += cell.attempts }
    }
}
