import AlertRules
import Foundation
import Testing

@Suite("Rule files")
struct RuleFileTests {
    private static let annotations = "annotations: { summary: s, meaning: m, action: a, runbook: runbooks/x.md }"

    /// A file with one rule whose lines are given; the rule's keys begin in column 9, the first in line 5.
    private func read(_ lines: String...) -> RuleSet { read(lines) }

    private func read(_ lines: [String]) -> RuleSet {
        let rule = (["- alert: Test"] + lines.map { "  " + $0 }).map { "      " + $0 }
        let text = (["groups:", "  - name: g", "    rules:"] + rule).joined(separator: "\n") + "\n"
        return RuleSet.read([SourceText(path: "r.yml", text: text)], runbookExists: { $0 == "runbooks/x.md" })
    }

    @Test("a minimal ratio has the reference's defaults")
    func ratioDefaults() throws {
        let set = read("ratio: { reason: provider_5xx, above: 5% }", "for: 15m", "labels: { severity: page }", Self.annotations)
        #expect(set.findings == [])
        let rule = try #require(set["Test"])
        guard let ratio = rule.condition.ratio else { throw Unexpected() }
        #expect(ratio == RatioCondition(reasons: ["provider_5xx"], above: Fraction(1, 20), for: RuleDuration(minutes: 15)))
        #expect(ratio.smooth.minutes == 5 && ratio.quorum == Fraction(4, 5) && ratio.minBad == 10 && ratio.minBadSmooth == 2)
        #expect(ratio.guardConfidence == .percent99 && ratio.guardAt == Fraction(4, 100))
        #expect(ratio.resolveAfter.minutes == 10 && ratio.resolveAt == Fraction(4, 100) && ratio.minAttemptsToClear == 5)
        #expect(ratio.version == .two && ratio.reopenWithin.minutes == 120)
        #expect(ratio.resolveWithin.minutes == 120 && ratio.of.allowed == [.eventType: ["send"]])
        #expect(rule.by == [] && rule.severity == .page && rule.ruleGroup == "g")
        #expect(rule.source == SourcePosition(file: "r.yml", line: 4, column: 9))
    }

    @Test("a minimal baseline has the reference's defaults")
    func baselineDefaults() throws {
        let set = read("baseline: { reason: token_not_registered, above: 3x }", "labels: { severity: page }", Self.annotations)
        #expect(set.findings == [])
        guard let baseline = try #require(set["Test"]).condition.baseline else { throw Unexpected() }
        #expect(baseline == BaselineCondition(reasons: ["token_not_registered"], above: Fraction(3, 1)))
        #expect(baseline.version == .two && baseline.minBad == 8 && baseline.alpha == Fraction(3, 10_000))
        let first = read(
            "baseline: { version: 1, reason: token_not_registered, above: 3x }",
            "labels: { severity: page }",
            Self.annotations
        )
        guard let baseline = try #require(first["Test"]).condition.baseline else { throw Unexpected() }
        #expect(baseline == BaselineCondition(reasons: ["token_not_registered"], above: Fraction(3, 1), version: .one))
        #expect(baseline.windows.map(\.minutes) == [60, 360, 1440] && baseline.reference.minutes == 10_080)
        #expect(baseline.minExpected == Fraction(3, 1) && baseline.minBad == 10 && baseline.alpha == Fraction(1, 1000))
        #expect(baseline.shrink == 1000 && baseline.minShare == Fraction(1, 10_000) && baseline.minAttemptsPerDay == 200)
    }

    @Test("everything can be set")
    func overrides() throws {
        let set = read(
            "ratio:",
            "  { reason: [auth, network], above: 0.5%, of: { eventType: [send, register], provider: apns }, smooth: 2m, quorum: 90%, min_bad: 5,",
            "    min_bad_smooth: 1, guard: off, guard_at: 0.4%, resolve_after: 20m, resolve_at: 0.3%, min_n_clear: 9, resolve_within: 1h30m, reopen_within: off }",
            "for: 10m",
            "by: [platform, app]",
            "labels: { severity: ticket, team: push }",
            "annotations: { summary: '{{ group.app }} {{observed}}', meaning: m, action: a, runbook: https://x.test/r, dashboard: 'd {{ rule }}' }"
        )
        #expect(set.findings.map(\.description) == [])
        let rule = try #require(set["Test"])
        guard let ratio = rule.condition.ratio else { throw Unexpected() }
        #expect(ratio.reasons == ["auth", "network"] && ratio.above == Fraction(5, 1000) && ratio.quorum == Fraction(9, 10))
        #expect(ratio.of.allowed == [.eventType: ["register", "send"], .provider: ["apns"]])
        #expect(ratio.guardConfidence == nil && ratio.guardAt == Fraction(4, 1000) && ratio.resolveAt == Fraction(3, 1000))
        #expect(ratio.smooth.minutes == 2 && ratio.resolveAfter.minutes == 20 && ratio.resolveWithin.minutes == 90)
        #expect(ratio.minBad == 5 && ratio.minBadSmooth == 1 && ratio.minAttemptsToClear == 9)
        #expect(rule.by == [.app, .platform] && rule.labels == ["severity": "ticket", "team": "push"])
        #expect(rule.annotations.others.keys.sorted() == ["dashboard"])
    }

    @Test("a provider code alone says which attempts are bad, whatever their reason; codes and versions decide the rule's version")
    func codes() throws {
        let rest = ["for: 10m", "by: [appVersion]", "labels: { severity: ticket }", Self.annotations]
        let set = read(["ratio: { code: [TopicDisallowed, BadTopic], above: 1%, of: { appVersion: [3.2.1, 3.2.2] } }"] + rest)
        #expect(set.findings.map(\.description) == [])
        let rule = try #require(set["Test"])
        #expect(rule.condition.codes == ["BadTopic", "TopicDisallowed"] && rule.condition.reasons == Reasons.all.sorted())
        #expect(rule.condition.of.allowed[.appVersion] == ["3.2.1", "3.2.2"] && rule.by == [.appVersion])
        #expect(rule.condition.summary(\.description) == "BadTopic, TopicDisallowed above 1 % for 10m")
        let others = ["code: BadTopic, above: 1%", "reason: auth, code: BadTopic, above: 1%", "reason: auth, above: 1%"]
        let versions = try others.map { try #require(read(["ratio: { \($0) }"] + rest)["Test"]).version }
        #expect(Set(versions + [rule.version]).count == 4)
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var lines: [String]
        var finding: String
        var testDescription: String { finding }
    }

    static let good = "ratio: { reason: auth, above: 1% }"
    static let labels = "labels: { severity: page }"

    static func ratio(_ setting: String, _ finding: String) -> Fault {
        Fault(
            lines: ["ratio:", "  reason: auth", "  above: 2%", "  \(setting)", "for: 10m", labels, annotations],
            finding: "r.yml:" + finding
        )
    }

    static func baseline(_ setting: String, _ finding: String) -> Fault {
        let lines = ["baseline:", "  reason: auth", "  above: 3x", "  \(setting)", "  version: 1", labels, annotations]
        return Fault(lines: lines, finding: "r.yml:" + finding)
    }

    static func drop(_ settings: String, _ finding: String) -> Fault {
        Fault(lines: ["for: 15m", "traffic_drop:", "  { \(settings) }", labels, annotations], finding: "r.yml:" + finding)
    }

    static func burn(_ settings: String, _ finding: String) -> Fault {
        Fault(lines: ["burn_rate: { reason: auth, \(settings) }", labels, annotations], finding: "r.yml:" + finding)
    }

    static func latency(_ settings: String, _ finding: String) -> Fault {
        Fault(lines: ["for: 10m", "latency: { \(settings) }", labels, annotations], finding: "r.yml:" + finding)
    }

    static let faults: [Fault] = [
        latency("above: 2s", "6:18: error: latency.p: missing; give the percentile, such as 95"),
        latency("p: 95", "6:18: error: latency.above: missing; give the limit above which it fires, such as 2s"),
        latency("p: 45, above: 2s", "6:23: error: latency.p: 45 is impossible here: it must be from 50 to 99.9"),
        latency("p: 95, above: 2m", "6:34: error: latency.above: '2m' is not a latency such as 500ms or 2s"),
        latency("p: 95, above: 2500ms", "6:34: error: latency.above: latencies are not counted apart at 2.5s; use 2s or 3s"),
        latency("p: 95, above: 2s, of: { platform: ios }", "6:42: error: latency.of: latencies are counted by provider and app"),
        latency("p: 95, above: 90s", "6:34: error: latency.above: latencies are not counted apart at 90s; use 60s"),
        latency("p: 95, above: 2s, min_attempts: 0", "6:52: error: latency.min_attempts: 0 is impossible here: it must be from 1 to"),
        Fault(lines: ["latency: { p: 95, above: 2s }", labels, annotations], finding: "r.yml:4:9: error: for: missing; say for how long"),
        Fault(
            lines: ["latency: { p: 95, above: 2s }", "for: 10m", "by: [provider, platform]", labels, annotations],
            finding: "r.yml:7:13: error: by: 'platform' is not known here: latencies are counted by provider and app"
        ),
        baseline(
            "of: { appVersion: 3.2.1 }",
            "8:17: error: baseline.of.appVersion: unknown key 'appVersion'; known: eventType, provider,"
        ),
        Fault(
            lines: ["absence: { of: { provider: fcm } }", "for: 10m", "by: [appVersion]", labels, annotations],
            finding: "r.yml:7:14: error: by: unknown dimension 'appVersion'; only 'ratio' counts by exact versions; known: provider,"
        ),
        Fault(
            lines: [good, "by: [provider, providerErrorCode]", labels, annotations],
            finding: "r.yml:6:24: error: by: unknown dimension 'providerErrorCode'; an attempt that succeeds has no code, so a code has"
        ),
        Fault(
            lines: [good, "by: [code]", labels, annotations],
            finding: "r.yml:6:14: error: by: unknown dimension 'code'; an attempt that succeeds has no code, so a code has no share"
        ),
        ratio("by: x", "8:11: error: ratio.by: unknown key 'by'"),
        ratio("code: ''", "8:17: error: ratio.code:"),
        Fault(
            lines: ["ratio: { code: X, above: 2%, min_blocked: 5 }", "for: 10m", labels, annotations],
            finding: "r.yml:5:51: error: ratio.min_blocked: what a circuit blocks has no code: remove 'code' or 'min_blocked'"
        ),
        Fault(
            lines: ["ratio: { reason: auth, above: 2%, min_blocked: 5 }", "for: 10m", "by: [appVersion]", labels, annotations],
            finding: "r.yml:5:56: error: ratio.min_blocked: an open circuit has no appVersion: use provider, app and environment"
        ),
        Fault(
            lines: [good, "fro: 10m", labels, annotations],
            finding:
                "r.yml:6:9: error: fro: unknown key 'fro'; did you mean 'for'? known: alert, ratio, burn_rate, latency, baseline,"
        ),
        ratio(
            "smoth: 2m",
            "8:11: error: ratio.smoth: unknown key 'smoth'; did you mean 'smooth'? known: version, reason, status, code, above, of, smooth,"
        ),
        ratio("smooth: 11m", "8:19: error: ratio.smooth: 11m is longer than 'for' (10m)"),
        ratio("smooth: 90s", "8:19: error: ratio.smooth: '90s' is not a duration in whole minutes such as 15m, 2h or 7d"),
        ratio("quorum: 120%", "8:19: error: ratio.quorum: 120 % is impossible here: it must be from 50 % to 100 %"),
        ratio("quorum: most", "8:19: error: ratio.quorum: 'most' is not a share such as 5% or 0.05"),
        ratio("min_bad: 0", "8:20: error: ratio.min_bad: 0 is impossible here: it must be from 1 to 1000000000"),
        ratio("min_bad: ten", "8:20: error: ratio.min_bad: 'ten' is not a whole number"),
        ratio("guard: 90%", "8:18: error: ratio.guard: '90%' is not a confidence; known: 95%, 99%, 99.9%, off"),
        ratio("resolve_at: 3%", "8:23: error: ratio.resolve_at: 3 % is more than 'above' (2 %)"),
        ratio("resolve_within: 5m", "8:27: error: ratio.resolve_within: 5m must be from 'resolve_after' (10m) to 1d"),
        ratio("of: { provider: apple }", "8:27: error: ratio.of.provider: 'apple' never occurs; possible: apns, fcm"),
        ratio("of: { colour: red }", "8:17: error: ratio.of.colour: unknown key 'colour'; known: eventType, provider,"),
        ratio(
            "of: { provider: apns, platform: android }",
            "8:43: error: ratio.of.platform: no attempt has this platform with this provider"
        ),
        ratio("above: 3%", "8:11: error: the same key twice: above, first in line 7"),
        baseline("above: 3", "8:11: error: the same key twice: above, first in line 7"),
        baseline("reference: 36h", "8:22: error: baseline.reference: 1d12h is impossible here: it must be whole days, from 1d to 28d"),
        baseline(
            "longer_windows: [6h, 2h]",
            "8:27: error: baseline.longer_windows: each window must be longer than the one before it, and none longer than 7d"
        ),
        baseline("longer_windows: [6h, soon]", "8:32: error: baseline.longer_windows: 'soon' is not a duration such as 6h"),
        Fault(
            lines: ["baseline:", "  reason: auth", "  above: 3x", "  window: 2h", labels, annotations],
            finding: "r.yml:8:19: error: baseline.window: is a key of 'version: 1' only"
        ),
        baseline("every: 7m", "8:18: error: baseline.every: 7m must divide a day and must not be longer than 'window' (1h)"),
        baseline("resolve_at: 4x", "8:23: error: baseline.resolve_at: 4× is more than 'above' (3×)"),
        baseline("strata: [provider, color]", "8:30: error: baseline.strata: unknown dimension 'color'; known: provider, platform,"),
        Fault(
            lines: ["baseline: { reason: auth, above: 3% }", labels, annotations],
            finding: "r.yml:5:42: error: baseline.above: '3%' is not a multiple"
        ),
        Fault(
            lines: ["baseline: { reason: auth, above: 3x }", "for: 5m", labels, annotations],
            finding: "r.yml:6:14: error: for: a baseline has a 'window' and no 'for'"
        ),
        drop("below: 95%", "7:20: error: traffic_drop.below: 95 % is impossible here: it must be from 1 % to 90 %"),
        drop("below: 30%, weeks: 9", "7:32: error: traffic_drop.weeks: 9 is impossible here: it must be from 1 to 8"),
        drop("below: 30%, min_usual: 5", "7:36: error: traffic_drop.min_usual: 5 is impossible here: it must be from 20 to"),
        drop("below: 30%, resolve_at: 20%", "7:37: error: traffic_drop.resolve_at: 20 % is impossible here: it must be from 30 %"),
        drop("weeks: 4", "7:11: error: traffic_drop.below: missing; give the part of the usual attempts"),
        burn("rate: 14.4, long: 1h", "5:20: error: burn_rate.objective: missing; give the share"),
        burn("objective: 100%, rate: 14.4, long: 1h", "5:47: error: burn_rate.objective: 100 % is impossible here: it must be from"),
        burn("objective: 90%, rate: 10, long: 1h", "5:58: error: burn_rate.rate: it can never fire: more than all attempts would"),
        burn("objective: 99%, rate: 2, long: 1h, short: 40m", "5:78: error: burn_rate.short: 40m is more than half of 'long' (1h)"),
        burn("objective: 99%, rate: 2, long: 1h, min_bad: 0", "5:80: error: burn_rate.min_bad: 0 is impossible here"),
        Fault(
            lines: ["burn_rate: { reason: auth, objective: 99%, rate: 2, long: 1h }", "for: 5m", labels, annotations],
            finding: "r.yml:6:14: error: for: a burn rate has the windows 'long' and 'short', and no 'for'"
        ),
        Fault(
            lines: ["queue_age: { above: 2m }", labels, annotations],
            finding: "r.yml:4:9: error: for: missing; say for how long the oldest due delivery"
        ),
        Fault(lines: ["queue_age: { }", "for: 5m", labels, annotations], finding: "r.yml:5:20: error: queue_age"),
        Fault(
            lines: ["queue_age: { above: 60s }", "for: 5m", labels, annotations],
            finding: "r.yml:5:29: error: queue_age.above: '60s' is not a duration in whole minutes"
        ),
        Fault(
            lines: ["queue_age: { above: 2m, of: { app: a } }", "for: 5m", labels, annotations],
            finding: "r.yml:5:37: error: queue_age.of: the queue is sampled by provider"
        ),
        Fault(
            lines: ["queue_age: { above: 2m }", "for: 5m", "by: [app]", labels, annotations],
            finding: "r.yml:7:13: error: by: 'app' is not known here: the queue is sampled by provider"
        ),
        Fault(
            lines: ["for: 5m", labels, annotations],
            finding: "r.yml:4:9: error: ratio: missing; a rule needs a condition: 'ratio', 'burn_rate', 'latency', 'baseline'"
        ),
        Fault(
            lines: [good, "baseline: { reason: auth, above: 3x }", "for: 5m", labels, annotations],
            finding: "r.yml:6:19: error: baseline: a rule has one condition; this one has 'ratio' and 'baseline'"
        ),
        Fault(lines: [good, labels, annotations], finding: "r.yml:4:9: error: for: missing; say how long"),
        Fault(
            lines: ["ratio: { reason: auth, above: 100% }", "for: 5m", labels, annotations],
            finding: "r.yml:5:39: error: ratio.above: 100 % can never fire as meant"
        ),
        Fault(
            lines: ["ratio: { reason: auth, above: -5% }", "for: 5m", labels, annotations],
            finding: "r.yml:5:39: error: ratio.above: '-5%' is not a share"
        ),
        Fault(
            lines: ["ratio: { reason: [auth, provider_5x], above: 5% }", "for: 5m", labels, annotations],
            finding:
                "r.yml:5:33: error: ratio.reason: unknown reason code 'provider_5x'; did you mean 'provider_5xx'? known: token_invalid,"
        ),
        Fault(lines: [good, "for: 0m", labels, annotations], finding: "r.yml:6:14: error: for: '0m' is not a duration"),
        Fault(
            lines: [good, "for: 5m", "by: [provider, provider]", labels, annotations],
            finding: "r.yml:7:24: error: by: 'provider' is listed twice"
        ),
        Fault(lines: [good, "for: 5m", annotations], finding: "r.yml:4:9: error: labels: missing; give at least 'severity'"),
        Fault(
            lines: [good, "for: 5m", "labels: { severity: loud }", annotations],
            finding: "r.yml:7:29: error: labels.severity: 'loud' is not a severity; known: critical, page, ticket, info"
        ),
        Fault(
            lines: [good, "for: 5m", "labels: { severity: page, alertname: X }", annotations],
            finding: "r.yml:7:46: error: labels.alertname: the label 'alertname' is set by Pushwatch"
        ),
        Fault(lines: [good, "for: 5m", labels], finding: "r.yml:4:9: error: annotations: missing; give 'summary', 'action' and 'runbook'"),
        Fault(
            lines: [good, "for: 5m", labels, "annotations: { summary: s, meaning: m, action: a }"],
            finding: "r.yml:8:22: error: annotations.runbook: missing; a file below the alerts directory"
        ),
        Fault(
            lines: [good, "for: 5m", labels, "annotations: { summary: s, action: a, runbook: runbooks/x.md }"],
            finding: "r.yml:8:22: warning: annotations.meaning: missing; say what it means for people"
        ),
        Fault(
            lines: [good, "for: 5m", labels, "annotations: { summary: s, meaning: m, action: a, runbook: runbooks/y.md }"],
            finding: "r.yml:4:9: error: annotations.runbook: 'Test': there is no file 'runbooks/y.md'"
        ),
        Fault(
            lines: [good, "for: 5m", labels, "annotations: { summary: '{{ obsrved }}', meaning: m, action: a, runbook: runbooks/x.md }"],
            finding: "r.yml:8:33: error: annotations.summary: unknown placeholder 'obsrved'; known: observed, threshold, bad, attempts,"
        ),
        Fault(
            lines: [good, "for: 5m", labels, "annotations: { summary: '{{ group.app }}', meaning: m, action: a, runbook: runbooks/x.md }"],
            finding: "r.yml:8:33: error: annotations.summary: placeholder 'group.app' needs 'app' in 'by'; the rule has no 'by'"
        ),
        Fault(
            lines: [good, "for: 5m", labels, "annotations: { summary: '{{ bad', meaning: m, action: a, runbook: runbooks/x.md }"],
            finding: "r.yml:8:33: error: annotations.summary: '{{' without '}}'"
        ),
    ]

    @Test("a fault is reported at its place, with the key", arguments: faults)
    func fault(_ fault: Fault) {
        let texts = read(fault.lines).findings.map(\.description)
        #expect((1...2).contains(texts.count) && texts.contains { $0.hasPrefix(fault.finding) }, "\(texts.joined(separator: "\n"))")
    }

    @Test(
        "what is no rule file is an error, not a crash",
        arguments: ["", "groups", "groups: 5", "- a", "groups: [", "rules: []", "a: b: c", "groups:\n  - 7"]
    )
    func notRules(text: String) {
        let set = RuleSet.read([SourceText(path: "r.yml", text: text)], runbookExists: { _ in true })
        #expect(set.hasErrors && set.rules == [] && !set.findings.isEmpty)
        #expect(set.findings.allSatisfy { $0.position.file == "r.yml" && $0.position.line >= 1 })
    }

    @Test("numbers beyond measure are errors", arguments: ["999999999.999999%", "123456789.123456", "999999999/1", "1/999999999"])
    func huge(text: String) {
        let set = read(
            "ratio: { reason: auth, above: \(text), quorum: \(text), resolve_at: \(text) }",
            "for: 5m",
            Self.labels,
            Self.annotations
        )
        #expect(set.hasErrors)
    }

    @Test("damaged files are read to the end", arguments: [31, 32, 33] as [UInt64])
    func damaged(seed: UInt64) throws {
        var random = Seeded(seed: seed)
        let rules = "\(ShippedRulesTests.alerts)/rules"
        let whole = Array(try String(contentsOfFile: "\(rules)/push-delivery.yml", encoding: .utf8).utf8)
        // A rule of the damaged file refers to one of this.
        let other = SourceText(path: "s.yml", text: try String(contentsOfFile: "\(rules)/push-health.yml", encoding: .utf8))
        func read(_ bytes: [UInt8]) -> RuleSet {
            RuleSet.read([SourceText(path: "r.yml", text: String(decoding: bytes, as: UTF8.self)), other], runbookExists: { _ in true })
        }
        let undamaged = read(whole)
        #expect(undamaged.findings.map(\.description) == [])
        var refused = 0
        for round in 0..<200 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                if Bool.random(using: &random) {
                    bytes.remove(at: index)
                } else {
                    bytes[index] = UInt8.random(in: 32...126, using: &random)
                }
            }
            let set = read(bytes)
            #expect(set.hasErrors || set.rules.count == undamaged.rules.count, "seed \(seed), round \(round)")
            for finding in set.findings {
                #expect(finding.position.line >= 1, "seed \(seed), round \(round): \(finding)")
            }
            if set.hasErrors { refused += 1 }
        }
        #expect((1..<200).contains(refused), "seed \(seed)")
    }

    @Test("an alert's name is unique over all files")
    func duplicates() {
        let text = """
            groups:
              - name: g
                rules:
                  - alert: Twice
                    ratio: { reason: auth, above: 1% }
                    for: 10m
                    labels: { severity: page }
                    annotations: { summary: s, meaning: m, action: a, runbook: https://x.test }

            """
        let set = RuleSet.read(
            [SourceText(path: "a.yml", text: text), SourceText(path: "b.yml", text: text)],
            runbookExists: { _ in true }
        )
        #expect(set.findings.map(\.description) == ["b.yml:4:9: error: alert: 'Twice' is defined twice; first at a.yml:4:9"])
        #expect(set.rules.map(\.source.file) == ["a.yml"])
        let report = RuleCheck.Report(rules: set.rules, tests: 0, findings: set.findings)
        #expect(report.hasErrors && report.text.hasSuffix("\n1 rule, 0 tests, 1 error, 0 warnings"))
    }

    @Test("the version follows what decides, and nothing else")
    func version() throws {
        func version(_ ratio: String, severity: String = "page", extra: String = "for: 10m") throws -> String {
            let set = read("ratio: \(ratio)", extra, "labels: { severity: \(severity) }", Self.annotations)
            return try #require(set["Test"]).version
        }
        let base = try version("{ reason: [auth, network], above: 1% }")
        #expect(base.count == 12)
        #expect(try version("{ above: 0.01, reason: [network, auth], min_bad: 10 }", severity: "ticket") == base)
        #expect(try version("{ reason: [auth, network], above: 1.1% }") != base)
        #expect(try version("{ reason: [auth, network], above: 1%, min_n_clear: 21 }") != base)
        #expect(try version("{ reason: [auth, network], above: 1% }", extra: "for: 11m") != base)
    }

    @Test("a missing directory is a finding")
    func missingDirectory() {
        let findings = RuleCheck.check(alertsDirectory: "/nonexistent/alerts")
        #expect(
            findings.map(\.description) == ["/nonexistent/alerts/rules:1:1: error: cannot read this directory: No such file or directory"]
        )
    }

    @Test("a file that cannot be read is a finding with its cause")
    func unreadableFile() throws {
        let directory = NSTemporaryDirectory() + "/alerts-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: "\(directory)/rules/a.yml", withIntermediateDirectories: true)
        let findings = AlertsDirectory(path: directory).ruleSet().findings.map(\.description)
        #expect(findings.contains("\(directory)/rules/a.yml:1:1: error: cannot read this file: Is a directory"), "\(findings)")
    }

    @Test("files without a rule are an error: nothing would alert, and what fires would be over")
    func noRules() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "rules-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory.appending(path: "rules"), withIntermediateDirectories: true)
        try "groups: []".write(to: directory.appending(path: "rules/a.yml"), atomically: true, encoding: .utf8)
        let findings = RuleCheck.check(alertsDirectory: directory.path)
        #expect(findings.map(\.message) == ["there is no rule in these files, so nothing would alert"])
    }

    @Test("a healthy share above half the threshold is warned of")
    func healthy() throws {
        let rule = try #require(read(Self.good, "for: 5m", Self.labels, Self.annotations)["Test"])
        #expect(RuleCheck.healthyShareFinding(rule, group: GroupKey(), healthy: 0.004) == nil)
        let finding = try #require(RuleCheck.healthyShareFinding(rule, group: GroupKey([.provider: "fcm"]), healthy: 0.006))
        #expect(finding.description.contains("'Test' (provider=fcm): the healthy share reaches 0.6 %, more than half of 1 %"))
    }

    struct Unexpected: Error {}
}
