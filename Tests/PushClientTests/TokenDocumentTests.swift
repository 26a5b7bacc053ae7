import Foundation
import Testing

/// What `docs/tokens.md` has to say of each kind of token.
@Suite("The document of tokens")
struct TokenDocumentTests {
    private static func document(_ name: String = "tokens.md") throws -> String {
        try String(contentsOf: VectorFile.root.appendingPathComponent("docs/\(name)"), encoding: .utf8)
    }

    /// The bullets of one kind, by their bold word.
    private static func facts(_ heading: String) throws -> [String: String] {
        let text = try document()
        guard let start = text.range(of: "\n## \(heading)\n") else { return [:] }
        let section = text[start.upperBound...].components(separatedBy: "\n## ")[0]
        var facts: [String: String] = [:]
        for bullet in section.components(separatedBy: "\n- **").dropFirst() {
            let parts = bullet.components(separatedBy: ":**")
            guard parts.count >= 2 else { continue }
            // A fact may be wrapped over several lines.
            facts[parts[0]] = parts.dropFirst().joined(separator: ":**").replacing("\n ", with: "")
        }
        return facts
    }

    private func expect(_ heading: String, _ fact: String, holds words: [String]) throws {
        let text = try #require(try Self.facts(heading)[fact], "\(heading) lacks the fact \(fact)")
        for word in words { #expect(text.contains(word), "\(heading), \(fact): \(word) is missing") }
    }

    static let kinds = ["Push token", "Push-to-start token", "Update token"]

    @Test("D-01 P-6.1 P-6.2: each kind of token has all eight facts", arguments: kinds)
    func complete(kind: String) throws {
        let facts = try Self.facts(kind)
        let wanted: Set = ["Obtained", "Reaches the API", "Stored", "Used for", "Topic", "Push type", "Version gate", "Ends"]
        #expect(wanted.subtracting(facts.keys).isEmpty)
        #expect(facts.values.allSatisfy { $0.count > 5 })
        #expect(try Set(Self.kinds.map { try Self.facts($0)["Used for"] }).count == Self.kinds.count)
        #expect(try Self.document().contains("## When which one"))
    }

    @Test("P-0.1: the push token is the one that APNs provides for ordinary pushes to a device")
    func pushToken() throws {
        try expect("Push token", "Obtained", holds: ["registerForRemoteNotifications()", "allowed notifications"])
        try expect("Push token", "Stored", holds: ["one row for each `(userId, deviceId)`"])
        try expect("Push token", "Used for", holds: ["ordinary pushes", "Never for a Live Activity"])
        try expect("Push token", "Topic", holds: ["`{bundleId}`"])
        try expect("Push token", "Push type", holds: ["`alert` or `background`"])
        let topic = try #require(try Self.facts("Push token")["Topic"])
        #expect(!topic.contains("liveactivity"))
    }

    @Test("P-1.1 P-2.1: the document states how each token is obtained")
    func obtained() throws {
        try expect("Push token", "Obtained", holds: ["didRegisterForRemoteNotificationsWithDeviceToken"])
        try expect("Push-to-start token", "Obtained", holds: ["pushToStartTokenUpdates", "areActivitiesEnabled", "never the device token"])
        try expect("Update token", "Obtained", holds: ["pushTokenUpdates"])
    }

    @Test("P-1.2: the document states how each token reaches the API")
    func reaches() throws {
        try expect("Push token", "Reaches the API", holds: ["POST /devices"])
        try expect(
            "Push-to-start token",
            "Reaches the API",
            holds: ["POST /devices/push-to-start-token", "/api/users/live-activity-token"]
        )
        try expect("Update token", "Reaches the API", holds: ["POST /matches/{matchId}/activity-token"])
    }

    @Test("P-1.3: the document states where each token is stored")
    func stored() throws {
        try expect("Push token", "Stored", holds: ["devices.pushToken"])
        try expect("Push-to-start token", "Stored", holds: ["devices.pushToStartToken", "live_activity_token"])
        try expect("Update token", "Stored", holds: ["liveActivities.updateToken", "never in `devices`"])
    }

    @Test("P-1.4: the document states what is sent with each token")
    func used() throws {
        try expect("Push token", "Used for", holds: ["POST /sends", "Never for a Live Activity"])
        try expect("Push-to-start token", "Used for", holds: ["starting a Live Activity", "Nothing else"])
        try expect("Update token", "Used for", holds: ["end", "Nothing else"])
        let text = try Self.document()
        for key in ["event", "content-state", "attributes-type", "attributes", "timestamp", "alert", "input-push-token"] {
            #expect(text.contains("\"\(key)\""), "the start payload lacks \(key)")
        }
    }

    @Test("P-6.2: the document states which token each event takes")
    func events() throws {
        let text = try Self.document()
        let section = try #require(
            text.range(of: "\n## When which one\n").map { text[$0.upperBound...].components(separatedBy: "\n## ")[0] }
        )
        let rows = section.split(separator: "\n").map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        func token(_ event: String) -> String? { rows.first { $0.first?.contains(event) == true }.flatMap { $0.last } }
        #expect(token("an alert") == "push token")
        #expect(token("goes live") == "push-to-start token")
        #expect(token("the score changes") == "update token")
    }

    @Test("D-27: every page that the sources refer to exists, and says what they refer to it for")
    func pages() throws {
        let pages = [
            ("live-activities.md", ["push-to-start", "pending", "token_invalid"]),
            ("match-following.md", ["POST /matches/{matchId}/activity-token", "POST /user/follow/match"]),
            ("score-feed.md", ["## A state", "## Events", "## The display state", "## Polling"]),
            ("authentication.md", ["## Sign-in", "`POST /devices`", "## Sign-out"]),
        ]
        for (name, words) in pages {
            let text = try Self.document(name)
            for word in words { #expect(text.contains(word), "\(name): \(word)") }
        }
    }

    @Test("P-6.3: the document states the minimum versions: 16.1, 17.2 and 18")
    func gates() throws {
        try expect("Push token", "Version gate", holds: ["none"])
        try expect("Push-to-start token", "Version gate", holds: ["iOS 17.2", "refuses"])
        try expect("Update token", "Version gate", holds: ["iOS 16.1"])
        #expect(try Self.document().contains("From iOS 18 "))
    }

    @Test("P-6.4: the document states the APNs topic and push type of each kind")
    func topics() throws {
        try expect("Push token", "Topic", holds: ["`{bundleId}`"])
        try expect("Push token", "Push type", holds: ["alert", "background"])
        for kind in ["Push-to-start token", "Update token"] {
            try expect(kind, "Topic", holds: ["{bundleId}.push-type.liveactivity"])
            try expect(kind, "Push type", holds: ["liveactivity"])
        }
    }

    @Test("the document states what ends each token")
    func ends() throws {
        try expect("Push token", "Ends", holds: ["410", "sign-out", "90 days"])
        try expect("Push-to-start token", "Ends", holds: ["410", "sign-out"])
        try expect(
            "Update token",
            "Ends",
            holds: ["match_end", "user_unfollow", "user_dismissed", "token_invalid", "device_unregistered", "stumps", "rolled_over"]
        )
    }
}
