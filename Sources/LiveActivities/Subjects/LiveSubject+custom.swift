import Postgres
import PushContract

extension LiveSubject {
    static let customColumns = """
        subject, attributesType, attributes, contentState, stateHash, stateTimestamp, stateBuiltAt, critical,
        startAlertTitle, startAlertBody, startAlertSound, startAlertLevel, staleAt, relevanceScore, endedAt, dismissAt, epoch,
        usesChannels, confirmedAt, freshFor
        """

    init(custom row: Row) throws {
        let values = try row.decode(
            (
                String, String, String, String, String, Int64, Timestamp, Bool, String, String, String?, String?, Timestamp?, Double?,
                Timestamp?, Timestamp?, Int64, Bool, Timestamp, Int32?
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
        startAlert = Alert(title: values.8, body: values.9, sound: values.10)
        startAlert.interruptionLevel = values.11.flatMap(InterruptionLevel.init(rawValue:))
        staleAt = values.12
        relevanceScore = values.13
        isOver = values.14 != nil
        endedAt = values.14
        isLive = values.14 == nil
        dismissAt = values.15
        epoch = values.16
        usesChannels = values.17
        freshness = Freshness(confirmedAt: values.18, seconds: values.19)
    }
}
