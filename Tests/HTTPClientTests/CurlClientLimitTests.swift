import Testing

@testable import HTTPClient

@Suite("Limits of requests to receivers")
struct CurlClientLimitTests {
    @Test("at the limit of all connections together a group has one, and no second")
    func free() {
        var configuration = CurlClientConfiguration()
        configuration.maxConnections = 64
        #expect(configuration.free(running: 0, inGroup: 0) == 64)
        #expect(configuration.free(running: 60, inGroup: 4) == 4)
        #expect(configuration.free(running: 64, inGroup: 0) == 1)
        #expect(configuration.free(running: 90, inGroup: 0) == 1)
        #expect(configuration.free(running: 64, inGroup: 1) == 0)
        #expect(configuration.free(running: 90, inGroup: 2) == 0)
        configuration.maxConnections = 0
        #expect(configuration.free(running: 90, inGroup: 2) == 4_006)
    }
}
