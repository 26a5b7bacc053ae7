import Postgres
import PushContract
import TestSupport
import Testing

extension WholeService {
    @Suite("Matches that became silent")
    struct SilentMatchTests {
        @Test("without feed URLs the poller of a silent match is paused")
        func paused() async throws {
            let silentSince = Timestamp.now() - .seconds(600)
            try await withServer { server in
                let insert: (String, Timestamp) async throws -> Void = { matchId, at in
                    try await server.pool.execute(
                        """
                        INSERT INTO activeMatches
                            (matchId, phase, displayState, stateHash, stateTimestamp, stateBuiltAt, lastUpdatedAt, pollerState)
                        VALUES (\(matchId), 'scheduled', '{}', '-', 0, \(at), \(at), 'polling')
                        """
                    )
                }
                try await insert("heard", .now())
                try await insert("silent", silentSince)
                try await eventually("the poller is paused") {
                    try await server.pool.query("SELECT pollerState FROM activeMatches WHERE matchId = 'silent'")[0].decode(String.self)
                        == "paused"
                }
                let heard = try await server.pool.query("SELECT pollerState FROM activeMatches WHERE matchId = 'heard'")[0]
                #expect(try heard.decode(String.self) == "polling")
            }
        }
    }
}
