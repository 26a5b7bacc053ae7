import Testing

@testable import AlertRules

@Suite("An app's major version as a stratum of a baseline")
struct AppMajorTests {
    private static let week = 8 * 1440

    private func key(_ major: String, pushType: String = "alert") -> GroupKey {
        GroupKey([.provider: "apns", .platform: "ios", .environment: "production", .pushType: pushType, .appMajor: major])
    }

    /// Runs of minutes for each version.
    private func history(_ versions: [String: [(minutes: Int, attempts: Int64, bad: Int64)]]) -> GroupHistory {
        GroupHistory(
            group: GroupKey([.provider: "apns"]),
            strata: versions.sorted { $0.key < $1.key }.map { StratumHistory(key: key($0.key), series: Make.series($0.value)) }
        )
    }

    private func kinds(_ history: GroupHistory, _ rule: AlertRule = Make.spike(version: .one)) -> [Transition.Kind] {
        Make.transitions(rule, history).map(\.kind)
    }

    @Test("traffic that moves to a version of which more tokens are always dead is no rise; without the stratum it would be")
    func mix() {
        let history = history([
            "2": [(Self.week, 10, 1), (180, 100, 10)],
            "3": [(Self.week, 100, 1), (180, 10, 0)],
        ])
        #expect(kinds(history) == [])
        let blind = Make.spike(version: .one) { $0.strata = [.environment, .platform, .provider, .pushType] }
        let merged = GroupHistory.groups(
            of: blind,
            rows: history.strata.flatMap { stratum in
                (0..<(Self.week + 180)).map { offset in
                    let counts = stratum.series[Make.start + offset]
                    return KeyedCounts(key: stratum.key, minute: Make.start + offset, attempts: counts.attempts, bad: counts.bad)
                }
            }
        )
        #expect(kinds(merged[0], blind).first == .fired)
    }

    @Test("one version of several fails more than it used to: found, though all together do not")
    func oneVersion() {
        let history = history([
            "2": [(Self.week, 100, 10), (180, 10, 1)],
            "3": [(Self.week, 100, 1), (180, 200, 16)],
        ])
        // Together 17 of 210 instead of 11 of 200.
        #expect(kinds(history) == [.fired])
    }

    @Test(
        "a version that came out today is expected to fail as the others do: silent when it does, found when it fails eightfold",
        arguments: [1, 8] as [Int64]
    )
    func newVersion(bad: Int64) {
        let history = history([
            "3": [(Self.week, 100, 1), (180, 10, 0)],
            "4": [(Self.week, 0, 0), (180, 90, bad)],
        ])
        #expect(kinds(history) == (bad == 8 ? [.fired] : []))
    }

    @Test("counts from before versions were counted train what is counted by version since")
    func upgrade() {
        let history = history([
            "": [(Self.week, 100, 3), (180, 5, 0)],
            "3": [(Self.week, 0, 0), (180, 95, 3)],
        ])
        #expect(kinds(history) == [])
        let shares = Baseline1Shares(BaselineCondition(reasons: ["x"], above: Fraction(3, 1), version: .one), strata: history.strata)
        let now = Make.start + (Self.week + 100)
        let usual = shares.shares(from: now - 59, through: now)
        #expect(usual.count == 2 && usual.allSatisfy { abs($0 - 0.03) < 1e-9 })
    }

    @Test("a version is a stratum from 5 % of its provider's traffic on; below that, and without a version, strata are one")
    func cells() {
        let keys = [key("1"), key("2"), key("3"), key(""), key("3", pushType: "liveactivity")]
        func cells(_ attempts: [Int64], accepted: GroupKey? = nil) -> StratumCells {
            StratumCells(keys, attempts: attempts, minMajorShare: Fraction(5, 100), isAccepted: { $0 == accepted })
        }
        let exact = cells([50, 49, 800, 1, 100])
        #expect(exact.members == [[0], [1, 3], [2], [4]])
        #expect(exact.cells == [0, 1, 2, 1, 3])
        // What is left is drawn towards its whole stratum, the others towards their provider.
        #expect(exact.parents == [[], [0, 1, 2, 3], [], []])
        #expect(cells([49, 49, 801, 1, 100]).members == [[0, 1, 3], [2], [4]])
        #expect(cells([49, 49, 801, 1, 100], accepted: key("1")).members == [[0], [1, 3], [2], [4]])
        let plain = [GroupKey([.provider: "apns", .pushType: "alert"]), GroupKey([.provider: "apns", .pushType: "background"])]
        let untouched = StratumCells(plain, attempts: [1, 1000], minMajorShare: Fraction(5, 100), isAccepted: { _ in false })
        #expect(untouched.members == [[0], [1]] && untouched.parents == [[], []])
    }

    @Test("the share from which on is a setting, and part of the rule's version")
    func setting() {
        func read(_ extra: String) -> RuleSet {
            let text = """
                groups:
                  - name: g
                    rules:
                      - alert: Spike
                        baseline: { reason: token_not_registered, above: 3x\(extra) }
                        labels: { severity: page }
                        annotations: { summary: s, meaning: m, action: a, runbook: https://x.test/r }
                """
            return RuleSet.read([SourceText(path: "r.yml", text: text)], runbookExists: { _ in true })
        }
        let (plain, tenth) = (read(", version: 1")["Spike"], read(", version: 1, min_major_share: 10%")["Spike"])
        #expect(plain?.dimensions.contains(.appMajor) == true)
        #expect(tenth != nil && plain?.version != tenth?.version)
        #expect(read(", version: 1, min_major_share: 0%").findings.map(\.description).contains { $0.contains("min_major_share") })
    }
}
