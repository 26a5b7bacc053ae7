import AlertRules
import ServiceKit

/// What an incident shows below its summary.
struct PagerDutyDetails: Encodable {
    var state: String
    var what_it_means: String?
    var what_to_do: String?
    var facts: [String: String]
    var most_affected: [String]
    var labels: [String: String]
    var annotations: [String: String]?
    var sql: String?

    init(_ text: AlertText) {
        state = text.state
        what_it_means = text.meaning
        what_to_do = text.action
        facts = Dictionary(text.facts.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        most_affected = text.contributors
        labels = text.message.labels.mapValues(\.visible)
        annotations = text.message.annotations.mapValues(\.visible)
        sql = text.message.reproduceSQL
    }

    /// What is left out, step by step, from an event that is too big; what can be found on the page goes first.
    static let shrinking: [@Sendable (PagerDutyDetails) -> PagerDutyDetails] = [
        { with($0) { $0.sql = nil } },
        { with($0) { $0.annotations = nil } },
        { with($0) { $0.most_affected = $0.most_affected.map { $0.cut(toCharacters: 200) } } },
        {
            with($0) {
                $0.labels = $0.labels.mapValues { $0.cut(toCharacters: 200) }
                $0.facts = $0.facts.mapValues { $0.cut(toCharacters: 200) }
                $0.what_it_means = $0.what_it_means?.cut(toCharacters: 2000)
                $0.what_to_do = $0.what_to_do?.cut(toCharacters: 2000)
            }
        },
        { $0 },
    ]

    private static func with(_ details: PagerDutyDetails, _ change: (inout PagerDutyDetails) -> Void) -> PagerDutyDetails {
        var details = details
        change(&details)
        return details
    }
}
