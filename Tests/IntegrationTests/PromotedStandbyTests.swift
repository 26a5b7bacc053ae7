import TestSupport
import Testing

extension WholeService {
    @Suite("A synchronous standby takes over")
    struct PromotedStandbyTests {
        @Test("the primary dies under load, the standby is promoted: the server finds it, and what was acknowledged is there")
        func promoted() async throws {
            try await SynchronousStandby.with { pair in
                let load = PostingLoad(url: pair.server.api.url)
                try await load.run(posters: 8) {
                    try await load.progress(800)
                    pair.primary.crash()
                    try await eventually("attempts are refused") { load.refusals[503] ?? 0 > 0 }
                    try await pair.promote()
                    try await pair.server.waitUntilReady()
                    try await load.progress(800)
                }
                try await pair.expectNothingLost("standby promoted", load)
            }
        }
    }
}
