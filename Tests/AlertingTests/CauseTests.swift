import AlertRules
import Testing

@testable import Alerting
@testable import Attempts

/// Twenty faults are injected into synthetic traffic; the first line of the message names each.
@Suite("The cause in the first line")
struct CauseTests {
    /// One attempt's values.
    private struct Traffic {
        /// Of each dimension the values, with their part of the traffic.
        static let values: [(name: String, of: [(value: String, part: Double)])] = [
            ("provider", [("fcm", 1)]), ("platform", [("android", 0.7), ("web", 0.3)]),
            ("app", [("com.example.scores", 0.6), ("com.example.news", 0.3), ("com.example.beta", 0.1)]),
            ("environment", [("production", 0.9), ("sandbox", 0.1)]), ("pushType", [("alert", 0.8), ("background", 0.2)]),
            ("appVersion", [("3.0.0", 0.5), ("3.1.0", 0.3), ("3.2.0", 0.15), ("4.0.0", 0.05)]),
        ]

        var random: Seeded
        var counts: [String: [String: AttemptCounts]] = [:]
        var all = AttemptCounts()

        /// `share` of the attempts with `value` in `name` fail with `code`, and a thousandth of all others.
        mutating func add(_ attempts: Int, fault name: String?, _ value: String, share: Double, code: String) {
            for _ in 0..<attempts {
                var picked: [(String, String)] = []
                for dimension in Self.values {
                    var rest = Double.random(in: 0..<1, using: &random)
                    let own = dimension.of.first { one in
                        rest -= one.part
                        return rest < 0
                    }
                    picked.append((dimension.name, (own ?? dimension.of[0]).value))
                }
                let isHit = name.map { name in picked.contains { $0 == (name, value) } } ?? true
                let isBad = Double.random(in: 0..<1, using: &random) < (isHit ? share : 0.001)
                if isBad { picked.append(("providerErrorCode", isHit ? code : "INTERNAL")) }
                let one = AttemptCounts(attempts: 1, bad: isBad ? 1 : 0)
                all = all + one
                for (name, value) in picked { counts[name, default: [:]][value] = (counts[name]?[value] ?? AttemptCounts()) + one }
            }
        }

        /// As the rollups and the sample give them.
        var contributors: [Contributor] {
            let shares = counts.flatMap { name, values in
                values.compactMap { value, counts -> RollupShare? in
                    RollupDimension(rawValue: name).map { dimension in
                        RollupShare(
                            dimension: dimension,
                            value: value,
                            attempts: counts.attempts,
                            bad: counts.bad,
                            attemptsBefore: counts.attempts,
                            badBefore: counts.attempts / 1000
                        )
                    }
                }
            }
            var sample = AttemptSample()
            (sample.attempts, sample.bad) = (all.attempts, all.bad)
            for name in ["appVersion", "providerErrorCode"] {
                for (value, counts) in counts[name] ?? [:] { sample.shares.append((name, value, counts.attempts, counts.bad)) }
            }
            return ContributorRanking.rank(shares, sample)
        }
    }

    struct Fault: CustomTestStringConvertible {
        var name: String?
        var value = ""
        var share: Double
        var code: String

        var testDescription: String { "\(name ?? "all")=\(value) \(share) \(code)" }
    }

    private static let faults: [Fault] =
        [
            ("appVersion", "3.1.0"), ("appVersion", "3.2.0"), ("appVersion", "4.0.0"), ("platform", "web"), ("platform", "android"),
            ("app", "com.example.news"), ("app", "com.example.beta"), ("environment", "sandbox"), ("pushType", "background"),
        ].enumerated().flatMap { index, place in
            [1, index.isMultiple(of: 2) ? 0.5 : 0.3].map {
                Fault(name: place.0, value: place.1, share: $0, code: index.isMultiple(of: 3) ? "UNAVAILABLE" : "THIRD_PARTY_AUTH_ERROR")
            }
        } + [Fault(share: 1, code: "UNAVAILABLE"), Fault(share: 0.25, code: "UNAVAILABLE")]

    @Test("of twenty injected faults the first line names the right cause, and no version or app when all fail alike", arguments: faults)
    func named(_ fault: Fault) throws {
        var traffic = Traffic(random: Seeded(state: 77))
        traffic.add(4000, fault: fault.name, fault.value, share: fault.share, code: fault.code)
        let cause = AlertCause(traffic.contributors)
        #expect(cause.codes.map(\.value) == [fault.code])
        #expect(cause.distinct?.dimension == fault.name && cause.distinct?.value ?? "" == fault.value, "\(cause.text ?? "")")
        var message = Messages.firing
        message.contributors = traffic.contributors
        let line = try #require(AlertText(message).plain.split(separator: "\n").first)
        #expect(line.contains(fault.code) && line.contains("since ") && line.hasPrefix("FIRING: "), "\(line)")
        if let name = fault.name { #expect(line.contains("\(name)=\(fault.value), ")) } else { #expect(!line.contains("=")) }
    }

    @Test("pages and commands say cause and lift in the words of the messages")
    func words() throws {
        var traffic = Traffic(random: Seeded(state: 77))
        traffic.add(4000, fault: "appVersion", "3.2.0", share: 1, code: "UNAVAILABLE")
        var message = Messages.firing
        message.contributors = traffic.contributors
        let version = try #require(message.contributors.first { $0.dimension == "appVersion" })
        let (value, least) = (try #require(version.lift), try #require(version.liftAtLeast))
        #expect(least > 1.2 && least < value)
        let lift = "\(Fraction.rounded(value)) (at least \(Fraction.rounded(least)))"
        let excess = Fraction.percent(version.excessShare)
        #expect(AlertText(message).contributors.contains(version.text) && !message.contributors.isEmpty)
        #expect(
            version.text
                == "appVersion=3.2.0: \(version.bad) of \(version.attempts) failed, \(excess) of the excess, \(lift) × its share of the traffic"
        )
        let cause = try #require(AlertCause(message.contributors).text)
        #expect(cause == "UNAVAILABLE; appVersion=3.2.0, \(lift) × its share of the traffic" && AlertText(message).summary.contains(cause))
    }

    @Test("the lift is at least what 99 % of the samples of such traffic would show")
    func confidence() throws {
        var random = Seeded(state: 5)
        let below = (0..<400).count { _ in
            var (own, all) = (AttemptCounts(), AttemptCounts())
            for _ in 0..<500 {
                let isOwn = Double.random(in: 0..<1, using: &random) < 0.1
                let isBad = Double.random(in: 0..<1, using: &random) < (isOwn ? 0.5 : 0.05)
                let one = AttemptCounts(attempts: 1, bad: isBad ? 1 : 0)
                all = all + one
                if isOwn { own = own + one }
            }
            let part = Double(own.attempts) / Double(all.attempts)
            let real = 0.5 / (part * 0.5 + (1 - part) * 0.05)
            return Lift(own, of: all).atLeast.map { $0 > real } ?? true
        }
        #expect(below <= 12, "\(below) of 400 claim too much")
    }

    @Test("the most frequent code is named, however many values have more of the failures")
    func codeAmongMany() {
        func share(_ dimension: RollupDimension, _ value: String, _ attempts: Int64, _ bad: Int64) -> RollupShare {
            RollupShare(dimension: dimension, value: value, attempts: attempts, bad: bad, attemptsBefore: attempts, badBefore: 0)
        }
        let hit: [(RollupDimension, String)] = [
            (.platform, "web"), (.app, "com.example.news"), (.environment, "sandbox"), (.pushType, "background"), (.appMajor, "4"),
        ]
        let shares = [share(.provider, "fcm", 1000, 100)] + hit.map { share($0.0, $0.1, 100, 100) }
        var sample = AttemptSample()
        (sample.attempts, sample.bad) = (1000, 100)
        sample.shares = [
            ("appVersion", "4.0.0", 100, 100), ("appVersion", "3.0.0", 900, 0), ("providerErrorCode", "UNAVAILABLE", 60, 60),
            ("providerErrorCode", "INTERNAL", 40, 40),
        ]
        let contributors = ContributorRanking.rank(shares, sample)
        #expect(contributors.count == ContributorRanking.limit)
        #expect(AlertCause(contributors).codes.map(\.value) == ["UNAVAILABLE"], "\(contributors.map(\.text))")
    }

    @Test("twenty faults are injected")
    func count() { #expect(Self.faults.count == 20) }
}
