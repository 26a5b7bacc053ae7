import CoreMetrics
import Cricket
import Metrics

enum MatchMetrics {
    /// Display states built: as many as there were changes, however many follow (L-07).
    static let built = Counter(label: "pushwatch_match_states_built_total")

    static func count(_ receipt: MatchReceipt) {
        Counter(label: "pushwatch_match_updates_total", dimensions: [("result", receipt.result.rawValue)]).increment()
        for event in Set(receipt.events) {
            Counter(label: "pushwatch_match_events_total", dimensions: [("event", event.rawValue)])
                .increment(by: receipt.events.count { $0 == event })
        }
    }

    static func count(poll outcome: String) {
        Counter(label: "pushwatch_match_polls_total", dimensions: [("outcome", outcome)]).increment()
    }
}
