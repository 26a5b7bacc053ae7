import Crypto
import Delivery
import Foundation
import PushContract
import TestDatabase
import TestSupport
import Testing

@testable import Server

extension WholeService {
    @Suite("Several instances of one deployment")
    struct InstanceStatusTests {
        @Test("two instances with different keys and versions show as different within a minute; a page, a command and metrics say so")
        func different() async throws {
            try await withServer(adjust: { $0.version = "0.0.9" }) { server in
                try await withTestDirectory { directory in
                    let store = InstanceStore(pool: server.pool)
                    try await eventually("the first instance has reported") { try await store.running().count == 1 }
                    #expect(InstanceDifference.all(of: try await store.running()).isEmpty)
                    let alone = try await Shell.run(ServerProcess.binary, ["status", "--database", server.database])
                    #expect(alone.code == 0 && !alone.output.contains("DIFFERENT"), "\(alone.output)")

                    let file = directory + "/other.p8"
                    try P256.Signing.PrivateKey().pemRepresentation.write(toFile: file, atomically: true, encoding: .utf8)
                    let other = try await ServerProcess.start(
                        database: server.database,
                        settings: [
                            "APNS_TEAM_ID": "TEAM000000", "APNS_KEY_ID": "OTHERKEY00", "APNS_KEY_FILE": file,
                            "APNS_PRODUCTION_URL": "https://localhost:1", "APNS_SANDBOX_URL": "https://localhost:1", "METRICS_OPEN": "true",
                        ]
                    )
                    try await eventually("they differ") {
                        InstanceDifference.all(of: try await store.running()).map(\.subject)
                            == ["version", "credentials of apns", "credentials of fcm"]
                    }
                    let text = InstanceDifference.all(of: try await store.running()).map(\.summary).joined()
                    #expect(text.contains("0.0.9") && text.contains("TEAM000000/OTHERKEY00#"))
                    let page = try await server.api.get("/")
                    #expect(page.text.contains("Version differs") && page.text.contains("OTHERKEY00"))

                    let status = try await Shell.run(ServerProcess.binary, ["status", "--database", server.database])
                    #expect(status.code == 1, "\(status.output)")
                    for said in ["DIFFERENT: version differs: 0.0.9", "DIFFERENT: credentials of apns differ", "OTHERKEY00#"] {
                        #expect(status.output.contains(said), "\(said): \(status.output)")
                    }
                    try await expectMetrics(of: other)
                    #expect(try await other.terminate().code == 0)
                    #expect(try await store.running().count == 1, "one that has ended does not run any more")
                }
            }
        }

        private func expectMetrics(of server: ServerProcess) async throws {
            try await server.waitUntilReady()
            let lines = try await eventually("the metrics say so") {
                let lines = try await server.api.get("/metrics").text.split(separator: "\n").map(String.init)
                return lines.contains("pushwatch_instances 2") ? lines : nil
            }
            for (subject, value) in [("version", 1), ("credentials", 1), ("token_keys", 0)] {
                #expect(lines.contains("pushwatch_instances_differ{subject=\"\(subject)\"} \(value)"), "\(subject)")
            }
            #expect(lines.contains { $0.hasPrefix("pushwatch_instance_info{") && $0.contains("version=") && $0.hasSuffix(" 1") })
            let accepted = lines.filter { $0.hasPrefix("pushwatch_credential_accepted_seconds{") }
            #expect(accepted.count == 1 && accepted[0].contains("provider=\"apns\"") && accepted[0].contains("TEAM000000/OTHERKEY00#"))
        }
    }
}
