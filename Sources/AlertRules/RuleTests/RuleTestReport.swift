/// The results of rule tests.
package struct RuleTestReport: Sendable, Hashable {
    package struct Result: Sendable, Hashable {
        package var name: String
        package var alert: String
        package var position: SourcePosition
        /// Empty when the test passed.
        package var failures: [String]

        package var passed: Bool { failures.isEmpty }
    }

    package var results: [Result]

    package var passed: Bool { results.allSatisfy(\.passed) }

    /// A line for each test, the reasons below a failed one, and a last line with the count.
    package var text: String {
        let lines = results.flatMap { result -> [String] in
            let head = "\(result.passed ? "ok  " : "FAIL") \(result.alert): \(result.name)"
            return result.passed ? [head] : ["\(head) (\(result.position))"] + result.failures.map { "       \($0)" }
        }
        let failed = results.count { !$0.passed }
        return (lines + ["\(results.count) rule tests, \(failed) failed"]).joined(separator: "\n")
    }
}
