import Foundation
import Postgres
import ProviderSimulator
import PushClient
import PushContract
import ServiceKit
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("A match with everything that belongs to it")
    struct DemoMatchTests {
        @Test(
            "T-19, D-02, D-03, D-04: a match with simulated phones: activities appear, change and end on them; each kind of token gets its own kind of push; every request has its row; no raw token is in a log, an error, a metric, a URL or the database"
        )
        func wholeMatch() async throws {
            try await withMatchDay { day in
                let matchId = try await day.play()
                let sent = try await day.server.api.post("/sends", text: #"{"sendId": "d-02", "uid": "fan-0", "title": "Thanks"}"#)
                #expect(sent.status == 202, "\(sent.text)")
                try await eventually("everything is ended and sent") {
                    try await day.pool.query(
                        """
                        SELECT (SELECT count(*) FROM liveActivities WHERE matchId = \(matchId) AND status <> 'ended')
                            + (SELECT count(*) FROM pushDeliveries d WHERE d.kind = 'liveEnd'
                                AND NOT EXISTS (SELECT FROM pushFinished f WHERE f.deliveryId = d.deliveryId)
                                AND NOT EXISTS (SELECT FROM pushDead x WHERE x.deliveryId = d.deliveryId))
                        """
                    )[0].decode(Int.self) == 0
                }
                try await eventually("the phones have seen the end") {
                    await day.fleet.step()
                    for number in [0, 1, 3, 8, 11] {
                        guard await day.phone(number).activities.first(where: { $0.matchId == matchId })?.dismissalAt != nil else {
                            return false
                        }
                    }
                    return true
                }
                try await expectLockScreens(day, matchId)
                try await eventually("the alert is sent") { alerts(day).count >= 1 }
                expectTokensApart(day)
                try await expectRows(day)
                #expect(try await day.server.terminate().code == 0)
                try await expectNoRawToken(day)
            }
        }

        @Test("SIGTERM in mid-match: every request that left has its row, also those that were never answered")
        func stopped() async throws {
            try await withMatchDay { day in
                try await day.beginMatch { matchId in
                    try await eventually("several phones show the match") {
                        var shown = 0
                        for phone in day.followers.phones where await phone.activities.contains(where: { $0.updates > 1 }) { shown += 1 }
                        return shown >= 4
                    }
                    day.simulator.setFaults([FaultRule(provider: .apns, share: 0.5, effect: .hang)])
                    try await eventually("some requests are not answered") {
                        day.simulator.requests(provider: .apns).filter { $0.reason == "hang" }.count >= 3
                    }
                    let ended = try await day.server.terminate()
                    #expect(ended.code == 0)
                    try await expectRows(day, mayBeMore: true)
                    let unknown = try await day.pool.query(
                        """
                        SELECT count(*) FROM notificationDeliveryAttempts
                        WHERE pushType = 'liveactivity' AND providerErrorCode = 'OutcomeUnknown'
                        """
                    )[0].decode(Int.self)
                    #expect(unknown >= 3, "what was never answered is unknown")
                    let owners = try await day.pool.query(
                        "SELECT count(*) FROM activeMatches WHERE leaseUntil IS NOT NULL AND matchId = \(matchId)"
                    )
                    #expect(try owners[0].decode(Int.self) == 0, "the match is given away")
                }
            }
        }

        @Test("through a channel phones follow the match whose owners never tapped Allow, and one that was swiped away stays away")
        func throughChannel() async throws {
            try await withMatchDay(settings: ["LIVE_CHANNELS": "own"]) { day in
                try await day.beginMatch { matchId in
                    try await eventually("the phone without a token is updated") {
                        await day.phone(5).activities.first { $0.matchId == matchId }.map { $0.updates > 3 } ?? false
                    }
                    let shown = try #require(await day.phone(5).activities.first { $0.matchId == matchId })
                    #expect(shown.updateToken == nil && shown.channel != nil)
                    try await eventually("a swipe is an unfollow") {
                        try await day.pool.query(
                            "SELECT count(*) FROM liveActivities WHERE userId = 'fan-4' AND endReason = 'user_dismissed'"
                        )[0].decode(Int.self) == 1
                    }
                    let broadcasts = day.simulator.requests(provider: .apns).filter { $0.path.hasPrefix("/4/broadcasts") }
                    #expect(broadcasts.count > 3)
                }
                #expect(try await day.server.terminate().code == 0)
                try await expectRows(day)
            }
        }

        @Test(
            "one 410 for a push token in mid-match: start token, card and follow survive, and the new token is registered at the next foreground"
        )
        func refusedToken() async throws {
            try await withMatchDay { day in
                try await day.beginMatch { matchId in
                    let phone = day.phone(0)
                    func shown() async -> ShownActivity? { await phone.activities.first { $0.matchId == matchId } }
                    try await eventually("the card is updated") { await shown().map { $0.updates > 1 } ?? false }
                    let card = try #require(await shown())
                    let startToken = try TokenHash.apns(await phone.startToken).rawValue
                    await phone.losePushToken()
                    let token = try TokenHash.apns(await phone.pushToken).rawValue
                    let sent = try await day.server.api.post("/sends", text: #"{"sendId": "refused", "uid": "fan-0", "title": "Hello"}"#)
                    #expect(sent.status == 202, "\(sent.text)")
                    try await eventually("the new token is registered") {
                        try await day.pool.query(
                            """
                            SELECT count(*) FROM devices
                            WHERE userId = 'fan-0' AND pushTokenHash = \(token) AND pushToStartTokenHash = \(startToken)
                            """
                        )[0].decode(Int.self) == 1
                    }
                    let deactivated = try await day.pool.query(
                        "SELECT count(*) FROM notificationDeliveryAttempts WHERE uid = 'fan-0' AND status = 'deactivated' AND pushType = 'alert'"
                    )
                    #expect(try deactivated[0].decode(Int.self) == 1, "the provider refused the old token")
                    let deviceId = await phone.deviceId
                    #expect(!phone.transport.sent.contains { $0.method == "DELETE" && $0.path == "/devices/\(deviceId)" })
                    let ended = try await day.pool.query(
                        "SELECT count(*) FROM liveActivities WHERE userId = 'fan-0' AND matchId = \(matchId) AND status = 'ended'"
                    )
                    #expect(try ended[0].decode(Int.self) == 0)
                    let follows = try await day.pool.query("SELECT count(*) FROM follows WHERE userId = 'fan-0' AND matchId = \(matchId)")
                    #expect(try follows[0].decode(Int.self) == 1)
                    let now = try #require(await shown(), "the card is still there")
                    #expect(now.activityId == card.activityId)
                    try await eventually("the card goes on") { await shown().map { $0.updates > now.updates } ?? false }
                }
            }
        }

        private func alerts(_ day: MatchDay) -> [RecordedRequest] {
            day.simulator.requests(provider: .apns).filter { $0.header("apns-push-type") == "alert" }
        }

        /// Push tokens get alerts, start tokens starts, update tokens the rest: by what the phones called them, and nothing crosses.
        private func expectTokensApart(_ day: MatchDay) {
            func posted(_ name: String) -> Set<String> {
                var tokens: Set<String> = []
                for request in day.followers.phones.flatMap({ $0.transport.sent }) {
                    let body = request.body.flatMap { try? JSONSerialization.jsonObject(with: Data($0)) as? [String: Any] }
                    if let token = body?[name] as? String { tokens.insert(token.lowercased()) }
                }
                return tokens
            }
            let (pushes, starts, updates) = (posted("pushToken"), posted("pushToStartToken"), posted("updateToken"))
            #expect(!pushes.isEmpty && !starts.isEmpty && !updates.isEmpty)
            #expect(pushes.isDisjoint(with: starts) && pushes.isDisjoint(with: updates) && starts.isDisjoint(with: updates))
            let alerts = alerts(day)
            #expect(!alerts.isEmpty && alerts.allSatisfy { pushes.contains($0.token ?? "") })
            #expect(alerts.allSatisfy { $0.header("apns-topic") == "com.example.scores" })
            let live = day.simulator.requests(provider: .apns).filter { $0.header("apns-push-type") == "liveactivity" && $0.token != nil }
            #expect(live.allSatisfy { $0.header("apns-topic") == "com.example.scores.push-type.liveactivity" })
            let (started, other) = (
                live.filter { $0.body.contains(#""event":"start""#) }, live.filter { !$0.body.contains(#""event":"start""#) }
            )
            #expect(!started.isEmpty && Set(started.compactMap(\.token)).isSubset(of: starts))
            #expect(!other.isEmpty && Set(other.compactMap(\.token)).isSubset(of: updates))
        }

        private func expectLockScreens(_ day: MatchDay, _ matchId: String) async throws {
            let display = try await day.pool.query("SELECT displayState FROM activeMatches WHERE matchId = \(matchId)")[0]
                .decode(String.self)
            // Those who allowed it at once, on all their phones, show the last state.
            for number in [0, 1, 8, 11] {
                let shown = try #require(await day.phone(number).activities.first { $0.matchId == matchId }, "phone \(number)")
                #expect(shown.updates > 10, "phone \(number) was updated \(shown.updates) times")
                #expect(shown.contentState == JSONValue(bytes: Array(display.utf8)), "phone \(number) shows the final state")
                #expect(shown.dismissalAt != nil, "and is ended")
            }
            let waiting = try #require(await day.phone(5).activities.first { $0.matchId == matchId })
            #expect(waiting.updateToken == nil && waiting.updates == 0, "nobody tapped Allow: no token, no update")
            for number in [6, 7, 9] {
                let activities = await day.phone(number).activities
                #expect(activities.isEmpty, "phone \(number) cannot have an activity started")
            }
            #expect(await day.phone(4).activities.isEmpty, "swiped away")
            let reasons = try await day.pool.query(
                "SELECT userId, string_agg(DISTINCT endReason, ',') FROM liveActivities WHERE matchId = \(matchId) GROUP BY 1"
            )
            let byUser = Dictionary(uniqueKeysWithValues: try reasons.map { try $0.decode((String, String).self) })
            // A swipe while the app is suspended invalidates the token, and is reported when the app is opened.
            #expect(["user_dismissed", "token_invalid", "token_invalid,user_dismissed"].contains(byUser["fan-4"]))
            let kept = try await day.pool.query("SELECT count(*) FROM follows WHERE matchId = \(matchId) AND userId = 'fan-4'")
            #expect(try kept[0].decode(Int.self) == 0, "a swipe is an unfollow")
            #expect(byUser["fan-0"] == "match_end" && byUser["fan-1"] == "match_end")
            #expect(byUser["fan-6"] == nil && byUser["fan-7"] == nil && byUser["fan-9"] == nil)
            #expect(try await day.pool.query("SELECT count(*) FROM devices WHERE userId = 'fan-7'")[0].decode(Int.self) == 0)
            let follows = try await day.pool.query("SELECT count(*) FROM follows WHERE matchId = \(matchId) AND userId = 'fan-6'")
            #expect(try follows[0].decode(Int.self) == 1, "a follow needs no activity")
            let rotated = await day.phone(3).activities.first { $0.matchId == matchId }
            #expect(rotated?.contentState == JSONValue(bytes: Array(display.utf8)), "a phone whose tokens changed in between sees the end")
        }

        /// As many rows as requests, with the provider's own ids.
        ///
        /// - Parameter mayBeMore: a push that was given up before it was written is an attempt without a request.
        private func expectRows(_ day: MatchDay, mayBeMore: Bool = false) async throws {
            func seen() -> [RecordedRequest] {
                day.simulator.requests(provider: .apns).filter { $0.header("apns-push-type") == "liveactivity" }
            }
            var difference = "?"
            do {
                try await eventually("each request has its row") {
                    let rows = try await day.pool.query(
                        "SELECT count(*) FROM notificationDeliveryAttempts WHERE pushType = 'liveactivity' AND eventType = 'send'"
                    )[0].decode(Int.self)
                    difference = "\(rows) rows, \(seen().count) requests"
                    return mayBeMore ? rows >= seen().count : rows == seen().count
                }
            } catch {
                Issue.record("\(difference)")
            }
            let accepted = Set(
                seen().filter { $0.status == 200 }.compactMap {
                    ($0.answerHeader("apns-id") ?? $0.answerHeader("apns-request-id"))?.lowercased()
                }
            )
            let stored = try await day.pool.query(
                """
                SELECT providerMessageId FROM notificationDeliveryAttempts
                WHERE pushType = 'liveactivity' AND status = 'sent' AND providerMessageId IS NOT NULL
                """
            ).map { try $0.decode(String.self).lowercased() }
            #expect(Set(stored).isSubset(of: accepted))
            #expect(Set(stored).count == accepted.count)
        }

        private func expectNoRawToken(_ day: MatchDay) async throws {
            let tokens = day.rawTokens
            #expect(tokens.count > 20, "push, start and update tokens have been used")
            func expectNone(in text: String, _ place: String) {
                let lowered = text.lowercased()
                for token in tokens where lowered.contains(token) { Issue.record("\(place) holds a raw token") }
            }
            expectNone(in: day.server.log, "the log")
            #expect(day.server.log.count > 1000, "the log is written at its finest level")
            expectNone(in: day.metrics, "the metrics")
            #expect(day.metrics.contains("pushwatch_live_pushes_total"))
            for phone in day.followers.phones { for request in phone.transport.sent { expectNone(in: request.path, "a URL") } }
            expectNone(in: day.answers.joined(separator: "\n"), "an answer of the API")
            // Every column that can hold text, whatever it is called.
            let columns = try await day.pool.query(
                """
                SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
                  AND a.atttypid IN ('text'::regtype, 'jsonb'::regtype, 'json'::regtype, 'bytea'::regtype, 'text[]'::regtype)
                """
            ).map { try $0.decode((String, String).self) }
            #expect(columns.count > 100)
            for (table, column) in columns {
                let values = try await day.pool.query(
                    "SELECT coalesce(string_agg(DISTINCT \(raw: column)::text, ' '), '') FROM \(raw: table)"
                )[0].decode(String.self)
                expectNone(in: values, "\(table).\(column)")
            }
        }
    }
}
