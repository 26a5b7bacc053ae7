import PushContract
import TestSupport
import Testing

extension WholeService {
    /// Every page as people see it.
    @Suite("Pages in a browser", .enabled(if: Chromium.mayBeTried, Comment(rawValue: Chromium.advice)))
    struct PictureTests {
        /// Goes to pages, takes their pictures and checks that everybody can use them.
        private struct Tour {
            let window: BrowserWindow
            let server: RunningServer
            let pictures: PagePictures
            let accessibility: Accessibility

            init(_ window: BrowserWindow, _ server: RunningServer) throws {
                self.window = window
                self.server = server
                pictures = try PagePictures(window)
                accessibility = Accessibility(window: window)
            }

            func look(_ name: String, _ path: String? = nil) async throws {
                if let path { try await window.go(to: server.url + path) }
                try await pictures.take(name) { try await accessibility.check("\(name), \($0)") }
                try await accessibility.checkKeyboard(name)
            }
        }

        @Test(
            "pages on a phone and a desktop, light and dark, match their pictures and are accessible, and Tab reaches everything"
        )
        func pages() async throws {
            try await BrowserStory.notify(present: .firing) { window, server, story in
                let tour = try Tour(window, server)
                try await tour.look("sign-in", "/sign-in")
                try await BrowserStory.signIn(window, server)
                try await window.see("All quiet")
                try await tour.look("now-quiet")
                try await story.tellIncident(server.api)
                try await delivered(window, server)
                try await tour.look("now-firing", "/")
                try await window.click("article h2 a")
                try await window.see("What to do")
                try await tour.look("alert-firing")
                try await window.click(".actions a", containing: "Silence")
                try await window.see("It would mute now")
                try await tour.look("silence")
                try await window.type("FCM has confirmed it", into: "#reason")
                try await window.click("main button", containing: "Silence")
                try await window.see("What to do")
                try await window.click(".actions button", containing: "Mark as real")
                try await window.see("Marked as real")
                try await tour.look("throttle", "/oncall/throttle?provider=fcm")
                try await BrowserMatch.play(server)
                story.catchUp()
                try await tour.look("matches", "/oncall/matches")
                try await window.click("td a", containing: "HL")
                try await window.see("The newest state on its way")
                try await tour.look("match")
                try await eventually("the rules have their backtests", within: .seconds(120)) {
                    try await window.go(to: server.url + "/oncall/rules")
                    return try await window.all(".strip .would").isEmpty == false
                }
                try await tour.look("rules")
                try await tour.look("zone", "/oncall/zone")
                try await tour.look("person", "/people/person-2")
                for (name, path) in [
                    ("deliveries", "/oncall/notifications"), ("audit", "/oncall/audit"), ("runbook", "/runbooks/provider-5xx.md"),
                    ("fault", "/oncall/alerts/nothing"),
                ] {
                    try await tour.look(name, path)
                }
            }
        }

        private func delivered(_ window: BrowserWindow, _ server: RunningServer) async throws {
            try await eventually("everything was delivered") {
                try await window.go(to: server.url + "/oncall/notifications")
                return try await window.text.contains("Every alert of the last day was delivered")
            }
        }

        @Test("the pages of a resolved alert, with the reader's time next to UTC, match their pictures and pass the accessibility checks")
        func resolved() async throws {
            try await BrowserStory.notify { window, server, story in
                try await window.liveIn("Asia/Tokyo")
                try await BrowserStory.signIn(window, server)
                try await story.tellIncident(server.api)
                try await story.tellRecovery(server.api)
                try await delivered(window, server)
                let tour = try Tour(window, server)
                try await tour.look("now-resolved", "/")
                try await window.click("td a", containing: "ProviderUnavailable")
                try await window.see("Resolved: lasted")
                try await window.see("Tokyo)")
                try await tour.look("alert-resolved")
            }
        }
    }
}
