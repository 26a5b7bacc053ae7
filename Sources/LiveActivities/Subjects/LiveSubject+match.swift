import Cricket
import Foundation
import HTTPServer
import Postgres
import PushContract
import ServiceKit

extension LiveSubject {
    static let matchColumns = """
        matchId, phase, displayState, stateHash, stateTimestamp, stateBuiltAt, keyEventPriority, confirmedAt, freshFor, epoch,
        wentLiveAt IS NOT NULL, endedAt
        """

    /// How long the cards of a match stay whose day is over, or that was live and is scheduled again. One wrong state would take all of
    /// them away, and the next one would alert everybody with a start.
    static let restsAfter = Duration.seconds(60)

    init(match row: Row) throws {
        let values = try row.decode(
            (String, String, String, String, Int64, Timestamp, Int16?, Timestamp, Int32, Int64, Bool, Timestamp?).self
        )
        let phase = MatchPhase(rawValue: values.1) ?? .scheduled
        let shown = MatchFacts(displayState: values.2)
        id = values.0
        attributesType = MatchSubject.attributesType
        attributes = shown.attributes(matchId: values.0)
        state = values.2
        stateHash = values.3
        timestamp = values.4
        builtAt = values.5
        event = KeyEventClass(priority: values.6.map(Int.init))
        startAlert = Alert(title: shown.title ?? "Live now", body: shown.status ?? "The match you follow is live.")
        isOver = phase.isFinal
        endedAt = values.11
        isLive = phase.isShown
        isDayOver = phase == .stumps
        if isDayOver || phase == .scheduled && values.10 { restingFrom = values.5 + LiveSubject.restsAfter }
        freshness = Freshness(confirmedAt: values.7, seconds: values.8)
        // Nothing of a match that has not begun after all is worth a quarter of an hour on the screen.
        dismissAt = phase == .scheduled ? Timestamp(seconds: values.4 - 1) : nil
        epoch = values.9
    }
}

/// The few members of a display state that a start needs in its attributes and alert.
private struct MatchFacts {
    var title: String?
    var event: String?
    var status: String?

    init(displayState: String) {
        guard case .object(let members)? = try? JSONParser.parse(Array(displayState.utf8)) else { return }
        func text(_ name: String) -> String? {
            if case .string(let text)? = members[name] { text } else { nil }
        }
        title = text("title")
        event = text("event")
        status = text("status")
    }

    func attributes(matchId: String) -> String {
        let attributes = MatchActivityAttributes(matchId: matchId, title: title, event: event)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings alone: encoding them cannot fail.
        return (try? encoder.encode(attributes)).map { String(decoding: $0, as: UTF8.self) } ?? #"{"matchId":""}"#
    }
}
