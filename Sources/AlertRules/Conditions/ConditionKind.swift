/// A kind of condition: its key in a rule file, and how it is read.
///
/// Each kind is defined in its own folder; `all` is the only list of kinds.
struct ConditionKind: Sendable {
    let key: String
    /// The rule's groups; some conditions have fixed ones or fewer dimensions.
    let groups: @Sendable (MappingReader) -> [Dimension]
    let read: @Sendable (MappingReader) -> (any Condition)?

    init(
        key: String,
        groups: @escaping @Sendable (MappingReader) -> [Dimension] = { DimensionReader.by($0) },
        read: @escaping @Sendable (MappingReader) -> (any Condition)?
    ) {
        self.key = key
        self.groups = groups
        self.read = read
    }

    static let all: [ConditionKind] = [
        .ratio, .burnRate, .latency, .baseline, .absence, .trafficDrop, .backlog, .queueAge, .firstSight, .reregistration,
        .feedSilent,
    ]
}
