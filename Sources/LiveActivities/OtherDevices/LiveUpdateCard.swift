import Foundation
import HTTPServer
import PushContract
import ServiceKit

/// What a Live Update shows of one state. Pure.
struct LiveUpdateCard: Sendable, Hashable {
    var title: String
    var text: String
    var shortText: String?
    /// `value`, `max`, `segments`, `points`; nil: no progress bar.
    var progress: JSONValue?
    /// Unix seconds.
    var when: Int64?
    var chronometer: LiveUpdateMapping.Chronometer?

    init(_ subject: LiveSubject, _ mapping: LiveUpdateMapping) {
        title = subject.startAlert.title
        text = subject.startAlert.body
        if subject.attributesType == MatchSubject.attributesType, let match = LiveUpdateCard.match(subject.state) {
            (title, text, shortText, progress) = match
        }
        let values = LiveUpdateCard.members(subject.attributes).merging(LiveUpdateCard.members(subject.state)) { _, state in state }
        if let shown = LiveUpdateCard.filled(mapping.title, values) { title = shown }
        if let shown = LiveUpdateCard.filled(mapping.text, values) { text = shown }
        if let shown = LiveUpdateCard.filled(mapping.shortText, values) { shortText = shown }
        if let shown = LiveUpdateCard.progress(mapping, values) { progress = shown }
        when = mapping.when.flatMap { values[$0]?.integer }
        chronometer = when == nil ? nil : mapping.chronometer
    }

    /// Those of the score card that the apps' widgets draw. The progress of a chase is the runs of the target.
    private static func match(_ state: String) -> (title: String, text: String, shortText: String?, progress: JSONValue?)? {
        guard let state = try? JSONDecoder().decode(UnifiedDisplayState.self, from: Data(state.utf8)) else { return nil }
        let card = ScoreCard(state)
        let innings = state.innings.last
        let text = ([card.innings.last, card.status].compactMap(\.self)).joined(separator: " · ")
        let progress = innings.flatMap { innings in
            innings.target.map { target -> JSONValue in
                .object(["value": .integer(Int64(min(innings.runs, target))), "max": .integer(Int64(target))])
            }
        }
        return (card.title, text, innings.map { $0.wickets >= 10 ? "\($0.runs)" : "\($0.runs)/\($0.wickets)" }, progress)
    }

    private static func members(_ object: String) -> JSONMembers {
        (try? JSONParser.parse(Array(object.utf8)))?.members ?? [:]
    }

    /// A text without its names is none. What the state does not have is left out.
    private static func filled(_ template: String?, _ values: JSONMembers) -> String? {
        guard let template else { return nil }
        var text = template
        for name in LiveUpdateMapping.names(in: template) {
            let value = values[name].flatMap { $0 == .null ? nil : $0.string ?? $0.text }
            text = text.replacing("{\(name)}", with: value ?? "")
        }
        text = text.trimmingCharacters(in: .whitespaces)
        return text.isEmpty ? nil : text
    }

    private static func progress(_ mapping: LiveUpdateMapping, _ values: JSONMembers) -> JSONValue? {
        var members: JSONMembers = [:]
        members["value"] = whole(number(mapping.progress, values))
        members["max"] = whole(number(mapping.progressMax, values))
        members["segments"] = list(mapping.segments, "length", values)
        members["points"] = list(mapping.points, "position", values)
        return members["value"] == nil ? nil : .object(members)
    }

    private static func number(_ source: LiveUpdateMapping.Number?, _ values: JSONMembers) -> Double? {
        switch source {
        case nil: nil
        case .fixed(let number): number
        case .member(let name): values[name]?.number
        case .values(let name, let numbers): values[name]?.string.flatMap { numbers[$0] }
        }
    }

    /// `ProgressStyle` counts in whole numbers.
    private static func whole(_ number: Double?) -> JSONValue? { number.flatMap { Int64(exactly: $0.rounded()) }.map(JSONValue.integer) }

    private static func list(_ source: LiveUpdateMapping.List?, _ name: String, _ values: JSONMembers) -> JSONValue? {
        let items: [JSONValue]? =
            switch source {
            case nil: nil
            case .fixed(let items): items
            case .member(let member): values[member]?.elements
            }
        return items.map { items in .array(items.map { item in whole(item.number).map { .object([name: $0]) } ?? item }) }
    }
}
