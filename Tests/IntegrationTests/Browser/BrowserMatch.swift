import Foundation
import PushContract
import Testing

/// A match with a follower, through the API, so that the pages of matches have something to show.
enum BrowserMatch {
    static func play(_ server: RunningServer) async throws {
        let score: [String: Any] = [
            "matchId": "final-26", "sequence": 118, "updatedAt": Timestamp.now().rfc3339, "event": "Lantern Cup · Final",
            "teams": [["name": "Harbour Lights", "short": "HL"], ["name": "Mill Street", "short": "MS"]], "phase": "live",
            "ballsPerOver": 6,
            "innings": [
                ["number": 1, "team": "HL", "runs": 111, "wickets": 2, "overs": "10.0", "closed": true],
                ["number": 2, "team": "MS", "runs": 31, "wickets": 1, "overs": "3.2", "target": ["runs": 112, "overs": "10.0"]],
            ],
        ]
        let body = Array(try JSONSerialization.data(withJSONObject: score))
        let answer = try await server.api.call("PUT", "/matches/final-26", type: "application/json", body: body)
        #expect(answer.status == 200 || answer.status == 201, "\(answer.text)")
        let follower = try server.asUser("ann")
        #expect(try await follower.post("/user/follow/match", ["matchId": "final-26"]).status < 300)
    }
}
