import Postgres
import PushContract

/// Reading attempts back from `notificationDeliveryAttempts`.
enum StoredAttempt {
    /// The columns, in the order `decode` expects.
    static var columns: String { AttemptColumn.contractNames }

    static func decode(_ row: Row) throws -> Attempt {
        func value<Column: ColumnDecodable>(_ column: AttemptColumn) throws -> Column { try row.decode(Column.self, at: column.rawValue) }
        func member<Member: RawRepresentable<String>>(_ column: AttemptColumn) throws -> Member {
            guard let member = Member(rawValue: try value(column)) else {
                throw PostgresError(.decoding, "a stored attempt has a \(column.name) that is not in the contract")
            }
            return member
        }
        var attempt = Attempt(
            attemptId: try value(.attemptId),
            uid: try value(.uid),
            platform: try member(.platform),
            provider: try member(.provider),
            tokenHash: try member(.tokenHash),
            eventType: try member(.eventType),
            status: try member(.status),
            reasonCode: (try value(.reasonCode) as String?).flatMap(ReasonCode.init),
            attemptedAt: try value(.attemptedAt),
            requestId: try value(.requestId),
            environment: (try value(.environment) as String?).flatMap(PushEnvironment.init)
        )
        for column in AttemptColumn.optionals {
            switch column.definition.kind {
            case .optionalText(_, let field): field.set(&attempt, try value(column))
            case .optionalInteger(let field): field.set(&attempt, try value(column))
            case .text, .word, .moment, .key, .labels: break
            }
        }
        return attempt
    }
}
