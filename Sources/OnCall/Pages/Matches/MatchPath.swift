import ServiceKit

/// Where a match's page is; `GET /matches/{matchId}` is for machines.
enum MatchPath {
    static func path(subject: String) -> String { "/oncall/matches/" + PathText.encoded(subject) }
}
