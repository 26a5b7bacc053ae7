import Attempts
import Postgres

/// Alerts hang together: an episode's state is that of its last transition, what was delivered belongs to an episode, and no message
/// overtook an earlier one of its lane.
struct EpisodesCheck: FsckCheck {
    let name = "alerts"

    private static let statements: [(query: Query, text: String)] = [
        (
            """
            SELECT episode.episodeId::text, episode.state FROM alertEpisodes AS episode LEFT JOIN LATERAL (
                SELECT kind FROM alertTransitions AS transition
                WHERE transition.episodeId = episode.episodeId AND kind IN ('firing', 'resolved') ORDER BY seq DESC LIMIT 1
            ) AS last ON true
            WHERE last.kind IS DISTINCT FROM episode.state ORDER BY 1 LIMIT 100
            """,
            "is not what its last transition says; its state is"
        ),
        (
            """
            SELECT DISTINCT delivery.episodeId::text, delivery.receiver FROM alertDeliveries AS delivery
            WHERE NOT EXISTS (SELECT FROM alertEpisodes AS episode WHERE episode.episodeId = delivery.episodeId) ORDER BY 1, 2 LIMIT 100
            """,
            "does not exist, but something was delivered for it to"
        ),
        (
            """
            SELECT DISTINCT later.episodeId::text, later.receiver FROM alertOutbox AS later JOIN alertOutbox AS earlier
                ON earlier.episodeId = later.episodeId AND earlier.receiver = later.receiver AND earlier.seq < later.seq
            WHERE later.state = 'delivered' AND earlier.state = 'pending' ORDER BY 1, 2 LIMIT 100
            """,
            "has a message delivered before an earlier one to"
        ),
    ]

    func run(_ context: FsckContext) async throws -> [FsckReport.Line] {
        var faults: [FsckFault] = []
        for (done, statement) in EpisodesCheck.statements.enumerated() {
            context.progress(done, of: EpisodesCheck.statements.count)
            faults += try await context.twice {
                try await context.look(statement.query).map { row in
                    let (episode, other) = try row.decode((String, String).self)
                    return FsckFault("alert episode \(episode) \(statement.text) \(other)")
                }
            }
        }
        let count = try await context.look("SELECT count(*) FROM alertEpisodes")[0].decode(Int.self)
        return [FsckReport.Line(name, "alerts, their transitions and deliveries agree", examined: "\(count) episodes", faults: faults)]
    }
}
