import Delivery
import Foundation
import Postgres
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

        @Test("`token-keys rotate` is refused while an instance runs without the new key; once it has ended, older keys are retired")
        func rotation() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    let file = directory + "/token-keys"
                    let old = try String(contentsOfFile: TestTokenKeys.file, encoding: .utf8)
                    try "\(TokenKeySet.line(id: "k2"))\n\(old)".write(toFile: file, atomically: true, encoding: .utf8)
                    func rotate() async throws -> Shell.Done {
                        try await Shell.run(
                            ServerProcess.binary,
                            ["token-keys", "rotate", "--database", database],
                            environment: ["PUSHWATCH_TOKEN_KEYS": file]
                        )
                    }
                    try await withPool(database) { pool in
                        func ids() async throws -> [String] {
                            try await pool.query("SELECT keyId FROM tokenKeys ORDER BY keyId").map { try $0.decode(String.self) }
                        }
                        try await withServer(ServerConfiguration.bare(database)) { _ in
                            let store = InstanceStore(pool: pool)
                            try await eventually("the instance has reported") { try await store.running().first?.tokenKeys == ["test"] }
                            let refused = try await rotate()
                            #expect(refused.code == 1, "\(refused.output)")
                            #expect(refused.output.contains("does not have it. Make it the first line"), "\(refused.output)")
                            #expect(try await ids() == ["test"])
                        }
                        let done = try await rotate()
                        #expect(done.code == 0, "\(done.output)")
                        #expect(try await ids() == ["k2"])
                    }
                }
            }
        }
    }
}
