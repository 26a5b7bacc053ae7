import Foundation

/// A stored display state, as far as the page shows it in words. A state of another shape has no innings, and is shown as it is.
struct DisplayedScore {
    struct Innings: Decodable {
        var team: String
        var runs: Int
        var wickets: Int
        var overs: String?

        var text: String { "\(runs)/\(wickets)" + (overs.map { " (\($0))" } ?? "") }
    }

    private struct Content: Decodable {
        var event: String?
        var innings: [Innings]?
    }

    let event: String?
    let innings: [Innings]

    init(json: String) {
        let content = try? JSONDecoder().decode(Content.self, from: Data(json.utf8))
        event = content?.event
        innings = content?.innings ?? []
    }

    /// The same JSON, for people.
    static func indented(_ json: String) -> String {
        guard let value = try? JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed),
            let data = try? JSONSerialization.data(
                withJSONObject: value,
                options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed]
            )
        else { return json }
        return String(decoding: data, as: UTF8.self)
    }
}
