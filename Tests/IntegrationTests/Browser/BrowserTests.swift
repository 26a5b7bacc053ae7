import Foundation
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    /// People at the pages: a real browser, a real server, real clicks.
    @Suite("In a browser", .enabled(if: Chromium.mayBeTried, Comment(rawValue: Chromium.advice)))
    struct BrowserTests {
        @Test("sign in, see an alert appear, acknowledge, silence, throttle, lift, mark, watch it resolve, read who did what, sign out")
        func incident() async throws {
            try await BrowserStory.notify { window, server, story in
                try await window.go(to: server.url + "/")
                try await window.type("not a key", into: "#key")
                try await window.type("Ana", into: "#name")
                try await window.click("button", containing: "Sign in")
                try await window.see("not known")
                try await BrowserStory.signIn(window, server)
                try await window.see("All quiet")

                try await story.tellIncident(server.api)
                try await window.see("1 alert firing, not acknowledged; 1 more suppressed")
                #expect(try await window.title.hasPrefix("1 firing"))
                try await window.click("article button", containing: "Acknowledge")
                try await window.see("1 alert firing, all acknowledged; 1 more suppressed")
                try await window.click("article h2 a")
                try await window.see("Acknowledged by Ana (bootstrap)")

                try await window.click(".actions a", containing: "Silence")
                try await window.see("It would mute now")
                try await window.click("label", containing: "30 min")
                try await window.type("FCM has confirmed it", into: "#reason")
                try await window.click("main button", containing: "Silence")
                try await eventually("back at the alert") { try await window.address.contains("/oncall/alerts/") }

                try await window.click(".actions a", containing: "Throttle")
                try await window.see("Critical deliveries are never throttled")
                try await window.click("label", containing: "600 a minute")
                // Throttles end by the database's clock, which is an hour ahead of this story's.
                try await window.click("label", containing: "4 h")
                try await window.type("until FCM is well", into: "#reason")
                try await window.click("main button", containing: "Throttle")
                try await eventually("the throttle is in force") {
                    try await server.api.get("/sends/throttle").array("throttles").map { $0["provider"] as? String } == ["fcm"]
                }
                try await window.click("nav a", containing: "Now")
                try await window.see("limited to 600 a minute")

                try await window.click("article h2 a")
                try await window.click(".actions a", containing: "Throttle")
                try await window.click("main button", containing: "Lift")
                try await eventually("the throttle is lifted") {
                    try await server.api.get("/sends/throttle").array("throttles").isEmpty
                }
                try await window.click("main button", containing: "Mark as real")
                try await window.see("Marked as real by Ana (bootstrap)")

                try await story.tellRecovery(server.api)
                try await window.see("Resolved: lasted")
                try await window.click("nav a", containing: "Now")
                try await window.see("All quiet")

                try await window.click("nav a", containing: "Audit")
                let text = try await window.text
                for action in ["alerts.acknowledge", "silences.add", "throttles.add", "throttles.remove", "alerts.mark"] {
                    #expect(text.contains(action), "\(action) is missing in: \(text)")
                }
                try await window.click("button", containing: "Sign out")
                try await window.see("API key")
                try await window.go(to: server.url + "/oncall/audit")
                #expect(try await window.text.contains("throttles.add") == false, "signed out, and still shown")
            }
        }

        @Test("from the first page to who is affected and why in at most three clicks")
        func threeClicks() async throws {
            try await BrowserStory.notify { window, server, story in
                try await story.tellIncident(server.api)
                try await BrowserStory.signIn(window, server)
                let start = ContinuousClock.now
                var clicks = 0
                func click(_ selector: String, _ text: String? = nil) async throws {
                    clicks += 1
                    try await window.click(selector, containing: text)
                }
                try await click("article h2 a")
                try await window.see("Some of the people")
                let why = try await window.text
                #expect(why.contains("answers with server errors"), "\(why.prefix(600))")
                #expect(why.contains("UNAVAILABLE") && why.contains("person-"))
                try await click("td a[href^='/people/']")
                try await window.see("The last push failed")
                let person = try await window.text
                #expect(person.contains("the provider had a failure of its own (UNAVAILABLE)"), "\(person.prefix(600))")
                #expect(clicks <= 3)
                print("From the first page to who is affected and why: \(clicks) clicks, \(ContinuousClock.now - start)")
            }
        }
    }
}
