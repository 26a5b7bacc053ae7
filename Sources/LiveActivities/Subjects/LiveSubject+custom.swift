import Postgres
import PushContract

extension LiveSubject {
    static let customColumns = """
        subject, attributesType, attributes, contentState, stateHash, stateTimestamp, stateBuiltAt, critical,
        startAlertTitle, startAlertBody, endedAt, dismissAt, epoch
        """

    init(custom row: Row) throws {
        let values = try row.decode(
            (
                String, String, String, String, String, Int64, Timestamp, Bool, String, String, Timestamp?, Timestamp?, Int64
            ).self
        )
        id = values.0
        attributesType = values.1
        attributes = values.2
        state = values.3
        stateHash = values.4
        timestamp = values.5
        builtAt = values.6
        event = values.7 ? .prompt : .quiet
        startAlert = Alert(title: values.8, body: values.9)
        isOver = values.10 != nil
        isLive = values.10 == nil
        dismissAt = values.11
        epoch = values.12
    }
}
