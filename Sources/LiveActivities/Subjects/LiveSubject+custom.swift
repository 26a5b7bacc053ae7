import Postgres
import PushContract

extension LiveSubject {
    static let customColumns = """
        subject, attributesType, attributes, contentState, stateHash, stateTimestamp, stateBuiltAt, critical, alertTitle, alertBody,
        startAlertTitle, startAlertBody, endedAt, dismissAt, epoch
        """

    init(custom row: Row) throws {
        let values = try row.decode(
            (
                String, String, String, String, String, Int64, Timestamp, Bool, String?, String?, String, String, Timestamp?, Timestamp?,
                Int64
            ).self
        )
        id = values.0
        attributesType = values.1
        attributes = values.2
        state = values.3
        stateHash = values.4
        timestamp = values.5
        builtAt = values.6
        alert = values.8.map { Alert(title: $0, body: values.9 ?? "") }
        event = alert != nil ? .alerting : values.7 ? .prompt : .quiet
        startAlert = Alert(title: values.10, body: values.11)
        isOver = values.12 != nil
        isLive = values.12 == nil
        dismissAt = values.13
        epoch = values.14
    }
}
