/// What the checks found.
package struct FsckReport: Sendable, Encodable {
    /// One line of the report.
    package struct Line: Sendable, Encodable {
        /// A stable name, and the promise in words.
        package var check: String
        package var promise: String
        /// What was looked at, in words: "86400 attempts".
        package var examined: String
        /// How many faults there are; counting stops at 100 for each small statement.
        package var faultCount: Int
        /// The first of them.
        package var faults: [String]
        /// Something that is no fault and should be known all the same.
        package var note: String?

        package static let shown = 20

        package init(_ check: String, _ promise: String, examined: String, faults: [FsckFault]) {
            self.check = check
            self.promise = promise
            self.examined = examined
            faultCount = faults.count
            self.faults = faults.prefix(Line.shown).map(\.text)
        }
    }

    package var lines: [Line]
    package var isClean: Bool { lines.allSatisfy { $0.faultCount == 0 } }
}

/// Something that is not as it should be.
package struct FsckFault: Sendable {
    /// The same for the same fault at a second look, also when counts have moved on.
    package var key: String
    package var text: String

    package init(key: String, text: String) {
        self.key = key
        self.text = text
    }

    package init(_ text: String) { self.init(key: text, text: text) }
}
