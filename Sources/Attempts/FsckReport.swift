/// What the checks of stored attempts found.
package struct FsckReport: Sendable, Encodable {
    /// One line of the report.
    package struct Line: Sendable, Encodable {
        package var check: FsckCheck
        /// What was looked at, in words: "86400 attempts".
        package var examined: String
        /// How many faults there are; counting stops at 100 for each small statement.
        package var faultCount: Int
        /// The first of them.
        package var faults: [String]

        package static let shown = 20

        init(_ check: FsckCheck, examined: String, faults: [FsckFault]) {
            self.check = check
            self.examined = examined
            faultCount = faults.count
            self.faults = faults.prefix(Line.shown).map(\.text)
        }
    }

    package var lines: [Line]
    package var isClean: Bool { lines.allSatisfy { $0.faultCount == 0 } }
}

/// The invariants that are checked.
package enum FsckCheck: String, Sendable, Encodable, CaseIterable {
    case partitions, identity, ledger, rollups, tokens

    package var promise: String {
        switch self {
        case .partitions: "partitions stand without a gap and ahead of time"
        case .identity: "one row per attemptId, under the key of its id"
        case .ledger: "ledger and attempts agree"
        case .rollups: "rollups equal a recount"
        case .tokens: "no raw token is stored"
        }
    }
}

/// Something that is not as it should be.
struct FsckFault: Sendable {
    /// The same for the same fault at a second look, also when counts have moved on.
    var key: String
    var text: String

    init(key: String, text: String) {
        self.key = key
        self.text = text
    }

    init(_ text: String) { self.init(key: text, text: text) }
}
