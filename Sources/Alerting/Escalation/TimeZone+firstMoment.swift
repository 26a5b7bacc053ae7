import Foundation
import PushContract

extension TimeZone {
    /// The moment at which clocks here first show a local time, which in autumn they show twice. Of a time that they skip in spring: as far
    /// behind the jump as the time is behind its begin.
    /// - Parameter local: in seconds since 1970 as if it were UTC.
    func firstMoment(ofLocal local: Int64) -> Timestamp {
        // Clocks change at most once in two days.
        let (before, after) = (offset(at: local - 86_400), offset(at: local + 86_400))
        let earlier = local - max(before, after)
        return Timestamp(seconds: offset(at: earlier) == max(before, after) ? earlier : local - min(before, after))
    }

    /// What clocks here show, in seconds since 1970 as if it were UTC.
    func local(at moment: Timestamp) -> Int64 { moment.seconds + offset(at: moment.seconds) }

    private func offset(at seconds: Int64) -> Int64 { Int64(secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))) }
}
