import AlertRules
import PushContract
import Testing

@testable import Alerting

@Suite("How far the rules have been evaluated")
struct EvaluationHealthTests {
    /// 12:00 is minute 0.
    private static let noon = Timestamp(rfc3339: "2026-03-10T12:00:00Z")!

    static func rule(_ name: String, _ condition: RuleCondition) -> AlertRule {
        AlertRule(
            name: name,
            ruleGroup: "test",
            condition: condition,
            by: [.provider],
            severity: .page,
            labels: [:],
            annotations: RuleAnnotations(
                summary: AnnotationTemplate(plain: "s"),
                action: AnnotationTemplate(plain: "a"),
                runbook: "runbooks/auth.md"
            ),
            source: SourcePosition(file: "test.yml", line: 1, column: 1)
        )
    }

    private static let ratio = rule(
        "Ratio",
        .ratio(RatioCondition(reasons: ["auth"], above: Fraction(1, 100), for: RuleDuration(minutes: 10)))
    )
    private static let baseline = rule("Baseline", .baseline(BaselineCondition(reasons: ["token_not_registered"], above: Fraction(3, 1))))

    @Test(
        "a baseline rule that is not due delays nothing; one that is overdue does",
        arguments: [
            // Minute of the ratio rule, of the baseline rule, the clock, what the page says. Nil: not evaluated.
            (28, 24, 30, 29), (29, 29, 30, 30), (33, 24, 35, 29), (nil, 24, 28, 28), (nil, 24, 40, 29), (20, nil, 30, 21),
            (nil, nil, 30, nil),
        ] as [(Int?, Int?, Int, Int?)]
    )
    func through(ratio: Int?, baseline: Int?, clock: Int, expected: Int?) {
        let progress = [(Self.ratio, ratio), (Self.baseline, baseline)].compactMap { rule, minute in
            minute.map {
                RuleProgress(
                    rule: rule.name,
                    ruleVersion: rule.version,
                    asOf: Minute(Self.noon + .seconds($0 * 60)),
                    evaluatedAt: Self.noon
                )
            }
        }
        let now = Self.noon + .seconds(clock * 60 + 7)
        let through = RuleProgress.through(progress, rules: [Self.ratio, Self.baseline], last: .lastClosed(before: now))
        #expect(through == expected.map { Self.noon + .seconds($0 * 60) })
    }
}
