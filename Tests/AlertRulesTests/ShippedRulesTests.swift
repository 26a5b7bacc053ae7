import AlertRules
import Foundation
import Testing

@Suite("The shipped rules")
struct ShippedRulesTests {
    static let alerts = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "alerts").path(percentEncoded: false)
    static let examples = alerts + "/examples"

    @Test("they are read without an error or a warning, and their runbooks exist")
    func clean() {
        let set = AlertsDirectory(path: Self.alerts).ruleSet()
        #expect(set.findings.map(\.description) == [])
        #expect(set.rules.prefix(3).map(\.name) == ["TokenNotRegisteredSpike", "ProviderUnavailable", "PushAuthFailing"])
        #expect(
            set.rules.dropFirst(3).map(\.name) == [
                "FeedSilent", "FeedSilentForMany",
                "ProviderUnavailableSlow", "PushAuthFailingSlow", "ProviderUnreachable", "NothingDelivered", "PushAuthFailingInApp",
                "TokensDeactivatedEnMasse", "UnknownProviderErrors", "UnknownProviderCodeSeen", "SendBacklogGrowing", "SendsWaitTooLong",
                "ClientsNotReturning",
            ]
        )
        for alert in BuiltInAlert.allCases {
            #expect(AlertsDirectory(path: Self.alerts).hasFile(alert.runbook), "\(alert)")
        }
        #expect(RuleCheck.check(alertsDirectory: Self.alerts).map(\.description) == [])
    }

    @Test("the examples are read without an error or a warning, and all have names of their own")
    func examples() {
        #expect(RuleCheck.check(alertsDirectory: Self.examples).map(\.description) == [])
        let names = AlertsDirectory(path: Self.examples).ruleSet().rules.map(\.name)
        #expect(Set(names).isDisjoint(with: AlertsDirectory(path: Self.alerts).ruleSet().rules.map(\.name)))
    }

    @Test("every rule has a test that makes it fire, and one that keeps it silent", arguments: ["", "/examples"])
    func tested(folder: String) {
        let directory = AlertsDirectory(path: Self.alerts + folder)
        let rules = directory.ruleSet().rules
        let (tests, _) = RuleTestFile.read(directory.testSources().sources, rules: rules)
        for rule in rules {
            let own = tests.filter { $0.rule.name == rule.name }
            #expect(own.contains { !$0.expected.isEmpty } && own.contains { $0.expected.isEmpty }, "\(rule.name)")
        }
    }

    @Test("they pass the tests next to them", arguments: ["", "/examples"])
    func fixtures(folder: String) {
        let (report, findings) = RuleTestRunner.run(alertsDirectory: Self.alerts + folder)
        #expect(findings.map(\.description) == [])
        #expect(report.results.count >= (folder.isEmpty ? 14 : 2))
        #expect(report.passed, "\(report.text)")
    }

    @Test("their annotations say what the contract says")
    func contractActions() throws {
        let set = AlertsDirectory(path: Self.alerts).ruleSet()
        let dead = try #require(set["TokenNotRegisteredSpike"])
        #expect(dead.annotations.action.source.contains("unregister and re-register within the next foreground session"))
        let down = try #require(set["ProviderUnavailable"])
        #expect(down.annotations.action.source.contains("Throttle non-critical sends and watch the retry drain"))
        let auth = try #require(set["PushAuthFailing"])
        #expect(auth.annotations.action.source.contains("Rotate the credentials and verify the relay deployment"))
    }
}
