import PushContract

/// A lease that is a part of a row: who has it, until when, and an epoch that rises with each change of hands, so that a former holder's
/// late write can be recognised. Decided by the database's clock, so that machines need not agree about the time.
///
/// The leases of alerting (a row for each name), of subjects (columns of a match) and of feeds are of this shape. `pushLeases` is not:
/// there a lease is a row of its own with a token, for deliveries that are attempted together. A probe of a circuit takes such a lease,
/// after `nextProbeAt`.
package struct RowLease: Sendable {
    private let owner: String
    private let until: String
    private let epoch: String
    private let table: String

    /// - Parameter table: name or alias of the table, where its columns could be taken for others.
    package init(owner: String, until: String, epoch: String, table: String? = nil) {
        self.owner = owner
        self.until = until
        self.epoch = epoch
        self.table = table.map { $0 + "." } ?? ""
    }

    /// Condition: it is free, or its holder's time is over.
    package var isFree: Query {
        "(\(raw: table + owner) IS NULL OR \(raw: table + until) IS NULL OR \(raw: table + until) <= clock_timestamp())"
    }

    /// Condition: `holder` may take it, or extend it.
    package func isAvailable(to holder: String) -> Query { "(\(raw: table + owner) = \(holder) OR \(isFree))" }

    /// Assignments of an UPDATE. A lease that ran out gets a new epoch even for its old holder: another may have worked in between.
    package func assign(to holder: String, for duration: Duration) -> Query {
        """
        \(raw: owner) = \(holder), \(raw: until) = \(RowLease.end(of: duration)),
            \(raw: epoch) = \(raw: table + epoch) + (\(raw: table + owner) IS DISTINCT FROM \(holder) OR \(isFree))::integer
        """
    }

    /// When a lease that is taken now ends.
    package static func end(of duration: Duration) -> Query { "clock_timestamp() + \(duration.inSeconds) * interval '1 second'" }
}
