import CommandLineKit
import Foundation

/// What `pushwatch-dev bench pages` found.
struct PagesBenchReport: Encodable {
    struct Page: Encodable {
        var name: String
        var bytes: Int
        var p50Milliseconds: Double
        var p99Milliseconds: Double
        /// Of the medians.
        var ratioToNoOp: Double
    }

    var days: Int
    var attempts: Int64
    var attemptsOfThePerson: Int64
    var followers: Int
    var times: Int
    var pages: [Page]

    init(
        days: Int,
        attempts: Int64,
        attemptsOfThePerson: Int64,
        followers: Int,
        times: Int,
        noOp: String,
        measured: [(name: String, bytes: Int, milliseconds: [Double])]
    ) {
        self.days = days
        self.attempts = attempts
        self.attemptsOfThePerson = attemptsOfThePerson
        self.followers = followers
        self.times = times
        let least = Self.percentile(measured.first { $0.name == noOp }?.milliseconds ?? [], 0.5)
        pages = measured.map { page in
            let median = Self.percentile(page.milliseconds, 0.5)
            return Page(
                name: page.name,
                bytes: page.bytes,
                p50Milliseconds: median,
                p99Milliseconds: Self.percentile(page.milliseconds, 0.99),
                ratioToNoOp: least > 0 ? median / least : 0
            )
        }
    }

    /// The smallest value that at least this share of them does not exceed.
    static func percentile(_ values: [Double], _ share: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        return values.sorted()[min(values.count - 1, max(0, Int((Double(values.count) * share).rounded(.up)) - 1))]
    }

    var text: String {
        let rows = pages.map { page in
            [
                page.name, "\(page.bytes)", String(format: "%.2f", page.p50Milliseconds), String(format: "%.2f", page.p99Milliseconds),
                String(format: "%.1f", page.ratioToNoOp),
            ]
        }
        return TextTable(["page", "bytes", "p50 ms", "p99 ms", "× no-op"], rows).text
            + "\n\(times) requests each; \(attempts) attempts in \(days) days, \(attemptsOfThePerson) of them of the person shown; "
            + "a match with \(followers) followers"
    }
}
