import Foundation
import Testing

extension WholeService {
    /// The README's commands, taken from the README.
    @Suite("A newcomer's first hour")
    struct FirstHourTests {
        /// The fenced blocks of a section.
        private static func blocks(from heading: String, to next: String) throws -> [String] {
            let text = try ReadmeTests.text()
            let from = try #require(text.firstRange(of: heading), "README has no \(heading)")
            let to = try #require(text[from.upperBound...].firstRange(of: next), "README has no \(next)")
            let parts = text[from.upperBound..<to.lowerBound].components(separatedBy: "\n```\n")
            return parts.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
        }

        @Test("the README's commands, run as written, give the output that it states")
        func fiveThings() async throws {
            let blocks = try Self.blocks(from: "### Five things to try", to: "\n## Tests")
            try #require(blocks.count == 5, "the settings, and a block for each thing but the page")
            try await withTestDirectory { directory in
                let up = try await UpProcess.start(in: directory)
                let url = try up.value(/ready at (\S+)/)
                let settings = blocks[0].replacing("http://127.0.0.1:8080 ", with: url + " ")
                    .replacing("<user token>", with: try up.value(/user token +(\S+)/))
                    .replacing("<simulator>", with: try up.value(/simulator +(\S+)/))
                let query = blocks[4].replacing("<database>", with: try up.value(/psql '([^']+)'/))
                #expect(!(settings + query).contains("<"), "a value that the greeting does not print")
                let sent =
                    "until curl -s $URL/sends/hello-1 -H \"Authorization: Bearer $KEY\" | grep -q '\"state\":\"sent\"'; do sleep 0.2; done"
                let over =
                    "until curl -s $URL/sends/hello-2 -H \"Authorization: Bearer $KEY\" | grep -q token_not_registered; do sleep 0.2; done"
                let parts = [
                    settings, blocks[1], blocks[1], blocks[2], sent, blocks[3], over,
                    "curl -s $URL/devices/my-phone -H \"Authorization: Bearer $USER_TOKEN\"", query,
                ]
                let script = parts.joined(separator: "\necho; echo '== next'\n")
                let done = try await Shell.run("/usr/bin/timeout", ["120", "/bin/bash", "-euo", "pipefail", "-c", script], in: directory)
                #expect(done.code == 0, "\(done.output)")
                let said = done.output.components(separatedBy: "== next\n")
                try #require(said.count == parts.count, "\(done.output)")
                #expect(said[1].contains("\"result\":\"accepted\""), "1: \(said[1])")
                #expect(said[2].contains("\"result\":\"duplicate\""), "1 again: \(said[2])")
                #expect(said[3].contains("\"deviceId\":\"my-phone\"") && said[3].contains("\"result\":\"accepted\""), "2: \(said[3])")
                #expect(said[5].contains("\"sendId\":\"hello-2\""), "3: \(said[5])")
                #expect(said[7].contains("\"state\":\"inactive\""), "3: the token is deactivated: \(said[7])")
                #expect(said[8].contains("token_not_registered") && said[8].contains("reasoncode"), "4: \(said[8])")
                try await page(try up.value(/sign in +(\S+)/), url)
                #expect(try await up.stop() == 0)
            }
        }

        /// The fifth: the sign-in link opens the page.
        private func page(_ link: String, _ url: String) async throws {
            let api = API(url: url, bearer: nil)
            let answer = try await api.get(String(link.dropFirst(url.count)))
            let cookie = try #require(answer[header: "set-cookie"]?.split(separator: ";").first.map(String.init))
            let page = try await api.call("GET", "/", headers: [("cookie", cookie), ("accept", "text/html")])
            #expect(answer.status == 200 && page.status == 200)
            #expect(page.text.contains("<h1") && !page.text.contains("<script>"))
        }

        @Test("make up builds and starts everything, with the options that UP names")
        func makeUp() async throws {
            let lines = try Self.blocks(from: "## Try it", to: "### Five things to try")
            #expect(lines.first?.contains("make up") == true)
            let done = try await Shell.run("/usr/bin/env", ["make", "-n", "up", "UP=--empty --port 9090"], in: ProjectDirectory.root)
            #expect(done.code == 0 && done.output.contains("pushwatch-dev\" up --empty --port 9090"), "\(done.output)")
        }
    }
}
