import Postgres
import PushContract

/// One new fact as a prepared statement: for batches so small that COPY's own statement costs more than the rows. Columns of values and
/// not arrays: a function scan over twenty arrays costs more than the row does.
enum FactInsert {
    static func query(_ record: AttemptBatch.Record, of batch: AttemptBatch, receivedAt: Timestamp) -> Query {
        var query = Query(text: statement)
        query.parameters = AttemptColumn.layout.map { entry in
            switch entry.encoding {
            case .text(let slot): .text(record.slots[slot], of: batch)
            case .integer(let slot): .number(record.slots[slot].integer)
            case .word: .word(record.word(entry.column))
            case .moment: .moment(entry.column == .receivedAt ? receivedAt : record.attemptedAt)
            case .key: .key(record.key)
            case .labels: .value(Int16(record.folded.rawValue))
            }
        }
        return query
    }

    private static let statement = """
        INSERT INTO notificationDeliveryAttempts (\(AttemptColumn.allNames))
        VALUES (\(AttemptColumn.allCases.map { "$\($0.rawValue + 1)" }.joined(separator: ", ")))
        """
}

extension AttemptBatch.Record {
    /// The value of a column that is a closed set.
    func word(_ column: AttemptColumn) -> StaticString? {
        switch column {
        case .platform: platform.spelling
        case .provider: provider.spelling
        case .eventType: eventType.spelling
        case .status: status.spelling
        case .reasonCode: reasonCode?.spelling
        case .environment: environment?.spelling
        default: nil
        }
    }
}
