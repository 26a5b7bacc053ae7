import Foundation

/// What the tests' databases run on: plain PostgreSQL, or tables that Citus distributes, with which `make test-citus` runs suites again.
package enum TestEngine {
    struct NoCitus: Error, CustomStringConvertible {
        let description = TestEngine.absence
    }

    /// The `bin` directory of a PostgreSQL with Citus, which is no package of Debian.
    static let citusBinaries = variable("PUSHWATCH_TEST_CITUS_BIN")
    package static let hasCitus = citusBinaries != nil
    package static let absence = "no Citus: PUSHWATCH_TEST_CITUS_BIN is not set"
    /// Whether nodes can have a network that can be cut.
    package static let hasNetworks = hasCitus && geteuid() == 0
    package static let networkAbsence = hasCitus ? "not root: networks cannot be cut" : absence
    /// All databases of this process are distributed ones.
    package static let isDistributed = variable("PUSHWATCH_TEST_ENGINE") == "citus"

    /// For which a test may have its database: far more than any takes on a busy machine, but for those that run for as long as is asked.
    static let timeLimit =
        ["SOAK_SECONDS", "PUSHWATCH_SOAK_MINUTES"].allSatisfy { variable($0) == nil } ? Duration.seconds(600) : .seconds(7 * 86_400)

    private static func variable(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
