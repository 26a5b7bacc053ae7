import Cricket
import Foundation
import PushContract

/// What a replay will bring, without a server: the states and events in order, as the pipeline would find them.
struct ReplayTimeline {
    struct Entry: Encodable {
        struct Event: Encodable {
            var type: String
            var innings: Int
            var subject: String?
            var count: Int
            var ball: String?
            var text: String
        }

        /// Seconds from the start of play, at the replay's speed.
        var atSeconds: Double
        var events: [Event]
        var state: UnifiedDisplayState
    }

    let feed: ReplayFeed

    /// Calls `body` for every change of the display state.
    func forEach(_ body: (Entry) throws -> Void) rethrows {
        var memory = MatchMemory()
        for message in feed.messages {
            let now = feed.plan.moment(ofMatchTime: message.milliseconds)
            switch MatchProgress.step(memory, with: feed.score(of: message), now: now) {
            case .changed(let change):
                memory = change.memory
                let events = change.events.filter { $0.type != .scoreChange }
                try body(
                    Entry(
                        atSeconds: (now - feed.plan.startAt).inSeconds,
                        events: events.map {
                            Entry.Event(
                                type: $0.type.rawValue,
                                innings: $0.innings,
                                subject: $0.subject,
                                count: $0.count,
                                ball: $0.ball,
                                text: $0.text
                            )
                        },
                        state: change.display
                    )
                )
            case .unchanged(let kept): memory = kept
            case .stale, .afterTheEnd: break
            }
        }
    }
}

extension ReplayTimeline.Entry {
    /// One line for a person.
    var line: String {
        let score = state.innings.last.map { "\($0.team) \($0.runs)/\($0.wickets) (\($0.overs))" } ?? state.phase
        let announced = events.map(\.text).joined(separator: " · ")
        let minutes = Int(atSeconds) / 60
        let seconds = Int(atSeconds) % 60
        return "\(minutes):\(seconds < 10 ? "0" : "")\(seconds)  \(score)" + (announced.isEmpty ? "" : "  \(announced)")
    }
}
