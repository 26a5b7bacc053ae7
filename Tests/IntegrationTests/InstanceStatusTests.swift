import Crypto
import Delivery
import Foundation
import PushContract
import TestDatabase
import Testing

@testable import Server

extension WholeService {
    @Suite("Several instances of one deployment")
    struct InstanceStatusTests {
        @Test("two instances with different keys and versions show as different within a minute; a page and metrics say so")
        func different() async throws {
            try await withServer { server in
                try await withTestDirectory { directory in
                    let file = directory + "/other.p8"
                    try P256.Signing.PrivateKey().pemRepresentation.write(toFile: file, atomically: true, encoding: .utf8)
                    var other = ServerConfiguration.bare(server.database)
                    other.version = "0.0.9"
                    other.apns = .init(
                        teamId: "TEAM000000",
                        keyId: "OTHERKEY00",
                        keyFile: file,
                        productionURL: "https://localhost:1",
                        sandboxURL: "https://localhost:1"
                    )
                    let store = InstanceStore(pool: server.pool)
                    try await eventually("the first instance has reported") { try await store.running().count == 1 }
                    #expect(InstanceDifference.all(of: try await store.running()).isEmpty)
                    try await withServer(other) { _ in
                        try await eventually("they differ") {
                            InstanceDifference.all(of: try await store.running()).map(\.subject)
                                == ["version", "credentials of apns", "credentials of fcm"]
                        }
                        let text = InstanceDifference.all(of: try await store.running()).map(\.summary).joined()
                        #expect(text.contains("0.0.9") && text.contains("TEAM000000/OTHERKEY00#"))
                        let page = try await server.api.get("/")
                        #expect(page.text.contains("Version differs") && page.text.contains("OTHERKEY00"))
                    }
                }
            }
        }
    }
}
