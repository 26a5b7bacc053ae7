import PushContract
import TestSupport
import Testing

extension WholeService {
    /// People who live elsewhere than in UTC.
    @Suite("The reader's own time in a browser", .enabled(if: Chromium.mayBeTried, Comment(rawValue: Chromium.advice)))
    struct ReaderZoneTests {
        private func clock(_ window: BrowserWindow) async throws -> String {
            try await window.run("return document.querySelector('.clock').textContent") as? String ?? ""
        }

        @Test("the browser's time zone is next to UTC from the first page on, follows the reader, and a chosen zone overrides it")
        func zones() async throws {
            try await BrowserStory.notify { window, server, _ in
                try await window.liveIn("Asia/Tokyo")
                try await BrowserStory.signIn(window, server)
                try await window.see("Tokyo)")
                // What the browser itself makes of the page's moment.
                let own = """
                    const zone = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
                    return new Intl.DateTimeFormat('en-GB', zone).format(new Date(document.querySelector('.clock time').dateTime));
                    """
                let expected = try #require(try await window.run(own) as? String)
                #expect(try await clock(window).contains("(\(expected) Tokyo)"))
                // Somewhere else, on another page.
                try await window.liveIn("America/Sao_Paulo")
                try await window.go(to: server.url + "/oncall/rules")
                try await window.see("Sao Paulo)")
                try await window.click("footer a", containing: "Time zone")
                try await window.see("It is now")
                try await window.run("document.querySelector('#zone').value = 'Europe/Berlin'")
                try await window.click("main button", containing: "Keep")
                try await eventually("back at the rules") { try await window.address.hasSuffix("/oncall/rules") }
                try await window.see("Berlin)")
                // What was chosen is left alone, wherever the browser is.
                try await window.go(to: server.url + "/oncall/audit")
                #expect(try await clock(window).contains("Berlin)"))
                #expect(try await window.run("return document.cookie") as? String == "pushwatch_zone=Europe/Berlin")
            }
        }
    }
}
