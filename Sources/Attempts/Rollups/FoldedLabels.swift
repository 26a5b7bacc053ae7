/// Labels of an attempt that the counts fold into `other`, since too many values of them were reported.
package struct FoldedLabels: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let app = FoldedLabels(rawValue: 1)
    package static let appVersion = FoldedLabels(rawValue: 2)
    package static let providerErrorCode = FoldedLabels(rawValue: 4)
    package static let pushType = FoldedLabels(rawValue: 8)

    /// What folded values count as.
    package static let other = "other"
}
