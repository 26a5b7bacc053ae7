/// Why tables are not distributed, and what to do. Nothing was changed.
package struct DistributionRefusal: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable, Equatable {
        case noExtension
        case worker
        case tooFewNodes
        case noCoordinator
        case notMigrated
        /// A table is distributed in another way than Pushwatch needs.
        case otherPlacement
        case shardCount
    }

    package let kind: Kind
    package let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
