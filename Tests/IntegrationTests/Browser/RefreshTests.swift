import PushContract
import TestSupport
import Testing

extension WholeService {
    /// Pages that change while somebody reads them.
    @Suite("Fresh contents in a browser", .enabled(if: Chromium.mayBeTried, Comment(rawValue: Chromium.advice)))
    struct RefreshTests {
        /// Where something stands on the screen.
        private func top(_ window: BrowserWindow, of heading: String) async throws -> Int {
            let script = """
                const heading = [...document.querySelectorAll('main h2')].find(e => e.textContent === arguments[0]);
                return Math.round(heading.getBoundingClientRect().top)
                """
            return try await window.run(script, [heading]) as? Int ?? -1
        }

        private func clock(_ window: BrowserWindow) async throws -> String {
            try await window.run("return document.querySelector('.clock time').textContent") as? String ?? ""
        }

        @Test("an alert that appears above what is read does not move it; what was unfolded stays so; the headline is spoken")
        func inPlace() async throws {
            try await BrowserStory.notify { window, server, story in
                try await window.pretend(width: 390, height: 844, dark: false, phone: true)
                try await BrowserStory.signIn(window, server)
                try await window.click("summary", containing: "Numbers of the last 3 hours")
                try await window.run(
                    "document.activeElement.blur(); [...document.querySelectorAll('main h2')]"
                        + ".find(e => e.textContent === 'Queue').scrollIntoView()"
                )
                let before = try await top(window, of: "Queue")
                try await story.tellIncident(server.api)
                try await eventually("the alert is on the page", within: .seconds(180)) {
                    try await window.run("return document.querySelectorAll('article.alert').length") as? Int == 2
                }
                let after = try await top(window, of: "Queue")
                #expect(abs(after - before) <= 1, "moved from \(before) to \(after)")
                #expect(try await window.all("details[open]").count == 1)
                #expect(
                    try await window.run("return document.getElementById('news').textContent") as? String
                        == "1 alert firing, not acknowledged; 1 more suppressed"
                )
                #expect(try await window.title.hasPrefix("1 firing"))
            }
        }

        @Test("while a button is pointed at, nothing is asked for or replaced; afterwards it is")
        func inUse() async throws {
            try await BrowserStory.notify { window, server, story in
                try await story.tellIncident(server.api)
                try await BrowserStory.signIn(window, server)
                try await window.run("window.asked = 0; const real = fetch; fetch = (...all) => { window.asked++; return real(...all); }")
                try await window.point(at: try await window.find("article button", containing: "Acknowledge"))
                let shown = try await clock(window)
                story.pass(seconds: 7)
                // By the page's own clock: some seconds after it was due.
                try await eventually("the time for fresh contents has passed", within: .seconds(120)) {
                    try await window.run("return performance.now() > 14000") as? Bool == true
                }
                #expect(try await window.run("return window.asked") as? Int == 0)
                #expect(try await clock(window) == shown)
                try await window.point(at: try await window.find("h1"))
                try await eventually("the page is fresh again", within: .seconds(180)) { try await clock(window) != shown }
                #expect(try await window.run("return window.asked") as? Int == 1)
            }
        }

        @Test("what the foot says of the replica is as fresh as the contents; the focus stays on its link")
        func foot() async throws {
            try await BrowserStory.notify { window, server, _ in
                try await BrowserStory.signIn(window, server)
                // As if each fresh page came from a replica.
                try await window.run(
                    """
                    const real = fetch;
                    let age = 0;
                    fetch = async (...all) => {
                      const text = await (await real(...all)).text();
                      return new Response(text.replace("</footer>", ` <span>${++age}</span></footer>`));
                    };
                    document.querySelector(".foot a").focus();
                    """
                )
                try await eventually("the foot is fresh for the second time", within: .seconds(180)) {
                    let age = try await window.run("return document.querySelector('.foot span')?.textContent") as? String
                    return (age.flatMap { Int($0) } ?? 0) >= 2
                }
                #expect(try await window.all(".foot span").count == 1)
                #expect(try await window.run("return document.activeElement === document.querySelector('.foot a')") as? Bool == true)
            }
        }

        @Test("without scripts: sign in, see the alert, acknowledge it, and the page asks for itself again")
        func withoutScripts() async throws {
            try await BrowserStory.notify { window, server, story in
                try await window.allowScripts(false)
                try await window.go(to: server.url + "/")
                try await window.type(RunningServer.bootstrapKey, into: "#key")
                try await window.type("Ana", into: "#name")
                try await window.click(try await window.all("main button")[0])
                try await story.tellIncident(server.api)
                // The browser's own refresh.
                try await eventually("the alert is on the page", within: .seconds(180)) { try await window.all("article.alert").count == 2 }
                try await window.click(try await window.all("article.alert button")[0])
                try await eventually("it is acknowledged", within: .seconds(60)) { try await window.all("article.taken").count == 1 }
            }
        }
    }
}
