import Delivery
import PushContract
import Server
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("The keys of push tokens")
    struct TokenKeyTests {
        @Test("without keys a server that stores tokens does not start, and says what to do; one that only alerts does")
        func required() throws {
            var configuration = ServerConfiguration.bare("postgresql:///none")
            configuration.tokenKeys = nil
            let error = #expect(throws: ConfigurationError.self) { try configuration.tokenCipher() }
            #expect(error?.description.contains("token-keys create") == true && error?.description.contains("PUSHWATCH_TOKEN_KEYS") == true)
            configuration.roles = [.alert]
            _ = try configuration.tokenCipher()
        }

        @Test("a server with another key than the database's tokens were encrypted with does not start")
        func otherKey() async throws {
            try await withDatabaseURL { database in
                try await withServer(ServerConfiguration.bare(database)) { url in
                    let api = API(url: url, bearer: RunningServer.bootstrapKey)
                    try await eventually("the server is ready") { try await api.get("/health/ready").status == 200 }
                }
                var other = ServerConfiguration.bare(database)
                other.tokenKeys = .random(id: "test")
                let error = await #expect(throws: ConfigurationError.self) {
                    try await withServer(other) { url in
                        // It listens before it has seen the database; what counts is how it ends.
                        let api = API(url: url, bearer: RunningServer.bootstrapKey)
                        _ = try? await eventually("the server is gone") { (try? await api.get("/health")) == nil }
                    }
                }
                #expect(error?.description.contains("the key test is not the one") == true)
            }
        }
    }
}
