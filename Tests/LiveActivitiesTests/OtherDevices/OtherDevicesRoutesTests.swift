import HTTPServer
import HTTPTypes
import HummingbirdTesting
import NIOCore
import Providers
import PushContract
import ServiceKit
import Testing

@testable import LiveActivities

@Suite("What is said of devices without Live Activities")
struct OtherDevicesRoutesTests {
    private static let path = "/live/FootballActivityAttributes/ars-che"

    private static func state(_ home: Int, _ more: String = "") -> String {
        """
        {"attributes": {"home": "Arsenal", "away": "Chelsea"}, "startAlert": {"title": "Arsenal – Chelsea", "body": "Kick-off"},
         "contentState": {"phase": "firstHalf", "minute": 12, "homeGoals": \(home), "awayGoals": 0}\(more)}
        """
    }

    private func json(_ answer: TestResponse) throws -> JSONValue { try JSONParser.read(Array(String(buffer: answer.body).utf8)) }

    @Test("a follow says what each device gets; so do the subject's followers and its status, with what was sent and why not")
    func status() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.phone("ann", "phone", 1)
            try await bench.fcmDevice("ann", "android", 2)
            try await bench.fcmDevice("ann", "browser", 3, platform: .web)
            try await bench.fcmDevice("bob", "dead", 4)
            #expect(try await routes.call(Self.path, .put, as: "service", Self.state(0)).status == .created)
            let followed = try json(try await routes.call("\(Self.path)/follow", .post, as: "ann", #"{"deviceId": "android"}"#))
            let starts = Dictionary(
                uniqueKeysWithValues: (followed["starts"]?.elements ?? []).map {
                    ($0["deviceId"]?.string ?? "", "\($0["receives"]?.string ?? "") \($0["state"]?.string ?? "")")
                }
            )
            #expect(starts == ["phone": "liveActivity starting", "android": "liveUpdate pushed", "browser": "keyEvents pushed"])
            #expect(try await routes.call("\(Self.path)/followers/bob", .put, as: "service").status == .noContent)
            bench.apns.answer(LiveBench.fcmToken(4), .fcm(404, "UNREGISTERED"))
            try await bench.run()

            let followers = try json(try await routes.call("\(Self.path)/followers", .get, as: "service"))
            let receives = (followers["devices"]?.elements ?? []).map {
                "\($0["deviceId"]?.string ?? "") \($0["receives"]?.string ?? "") \($0["reason"]?.string ?? "-")"
            }
            #expect(
                receives == ["android liveUpdate -", "browser keyEvents -", "phone liveActivity -", "dead liveUpdate noPushToken"]
            )
            let subject = try json(try await routes.call(Self.path, .get, as: "service"))
            #expect(subject["otherDevices"]?["android"]?.integer == 2 && subject["otherDevices"]?["others"]?.integer == 1)
            #expect(subject["otherDevices"]?["liveUpdate"]?["deliveries"]?["sent"]?.integer == 1)
            let devices = (subject["devices"]?.elements ?? []).map { device in
                "\(device["deviceId"]?.string ?? "") \(device["shows"]?.string ?? "") \(device["reason"]?.string ?? "-") "
                    + "\(device["push"]?["state"]?.string ?? "-")/\(device["push"]?["providerErrorCode"]?.string ?? "-")"
            }
            #expect(
                devices == [
                    "android newest - sent/-", "browser nothing keyEventsOnly sent/-", "phone unknown waitsForToken -/-",
                    "dead nothing noPushToken failed/UNREGISTERED",
                ]
            )
        }
    }

    @Test("the shipped football type shows score, minute and half time on Android; a goal alerts browsers; the end leaves the screen")
    func football() async throws {
        try await LiveRoutes.with { routes in
            let bench = routes.bench
            try await bench.fcmDevice("ann", "android", 2)
            try await bench.fcmDevice("ann", "browser", 3, platform: .web)
            #expect(try await routes.call("\(Self.path)/followers/ann", .put, as: "service").status == .noContent)
            #expect(try await routes.call(Self.path, .put, as: "service", Self.state(0)).status == .created)
            try await bench.run()
            bench.clock.advance(.seconds(1))
            let goal = #", "alert": {"title": "GOAL", "body": "Saka 12'"}"#
            #expect(try await routes.call(Self.path, .put, as: "service", Self.state(1, goal)).status == .ok)
            try await bench.run()
            #expect(bench.calls(to: LiveBench.fcmToken(3)).map(\.message.title) == ["Arsenal – Chelsea", "GOAL"])
            let android = try #require(bench.android(2).last)
            #expect(
                android.data("title") == "Arsenal – Chelsea" && android.data("shortText") == "1–0" && android.data("text") == "1–0 · 12'"
            )
            #expect(
                android.data("progress") == #"{"max":90,"points":[{"position":45}],"segments":[{"length":45},{"length":45}],"value":12}"#
            )
            #expect(android.data("alertTitle") == "GOAL" && bench.android(2).count == 2)
        }
    }

    @Test("a start for a user with an Android device alone is one; its update says that it is taken")
    func direct() async throws {
        try await LiveRoutes.with { routes in
            try await routes.bench.fcmDevice("ann", "android", 2)
            let state =
                #"{"sender": "Ops", "message": "Disk full", "timestamp": 1800000000, "isDemo": false, "messageIndex": 0, "totalMessages": 1}"#
            let base = "/live-activities/PagerActivityAttributes"
            let start = """
                {"activityId": "i-7", "uid": "ann", "attributes": {"recipient": "Ann"}, "contentState": \(state),
                 "alert": {"title": "Pager", "body": "Disk full"}}
                """
            #expect(try await routes.call("\(base)/start", .post, as: "service", start).status == .accepted)
            try await routes.bench.run()
            let first = try #require(routes.bench.android(2).first)
            #expect(first.data("alertTitle") == "Pager" && first.data("text") == "Disk full" && first.data("title") == "Ops")
            let update = #"{"activityId": "i-7", "contentState": \#(state.replacing("full", with: "fine"))}"#
            let answer = try await routes.call("\(base)/update", .post, as: "service", update)
            #expect(try json(answer)["state"]?.string == "updating", "\(String(buffer: answer.body))")
        }
    }
}
