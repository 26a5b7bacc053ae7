/// Transactions about one key take turns, also while there is no row of it yet.
///
/// A row of `keyLocks` and no advisory lock: that one anybody could take who may connect, an analyst too. Keys share a few rows, so two of
/// one kind may take turns for nothing; kinds share none, and where a transaction locks several kinds it does so in the order below.
package enum KeyLock {
    package enum Kind: Int, Sendable, CaseIterable {
        case token, activity, pause
    }

    /// Rows of each kind; sql/migrations/0001 makes as many.
    static let rows = 1024

    /// Locked to the end of the transaction, which a statement of its own has to do: what waited sees all of whom it waited for.
    package static func take(_ kind: Kind, _ keys: [String]) -> Query {
        """
        SELECT slot FROM keyLocks WHERE slot = ANY(ARRAY(
            SELECT (\(kind.rawValue * rows) + (hashtextextended(key, 0) & \(rows - 1)))::integer FROM unnest(\(keys)::text[]) key))
        ORDER BY slot FOR UPDATE
        """
    }
}
