import Alerting
import Delivery
import HTTPServer
import Postgres

/// What failures of lower layers mean to a caller.
enum ErrorTranslation {
    @Sendable
    static func problem(_ error: any Error) -> Problem? {
        if let partial = error as? StoredInPart, problem(partial.error) != nil {
            return .unavailable(
                "The database is away or busy. The first \(partial.sends) sends of this request were stored or refused; send it again: what is stored is a duplicate then."
            )
        }
        guard let error = error as? PostgresError else { return nil }
        if error.isUnavailable || error.isSerializationConflict || error.code == .queryCancelled {
            return .unavailable(
                "The database is away or busy. Nothing of this request was stored unless the answer was lost; send it again."
            )
        }
        return nil
    }
}
