import Foundation
import ProviderSimulator
import TestDatabase
import TestSupport
import Testing

extension WholeService {
    @Suite("A provider that grants few streams")
    struct FewStreamsTests {
        @Test("a critical push overtakes what waits for a stream: that waits in the queue, not in the client")
        func critical() async throws {
            try await withDatabaseURL { database in
                try await withTestDirectory { directory in
                    try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
                        let files = try ProviderFiles(simulator, endpoints, directory: directory)
                        simulator.setConnections(ConnectionConditions(maxStreams: 1))
                        simulator.setFaults([FaultRule(provider: .fcm, delayMs: 60, effect: .delayOnly)])
                        let server = try await ServerProcess.start(
                            database: database,
                            settings: files.fcm,
                            arguments: ["--migrate"]
                        )
                        try await server.waitUntilReady()
                        for part in 0..<6 {
                            let sends = (0..<400).map {
                                [
                                    "sendId": "usual-\(part)-\($0)", "token": "fcm-token-\(part)-\($0)", "provider": "fcm", "app": "a",
                                    "title": "t",
                                ]
                            }
                            #expect(try await server.api.post("/sends", sends).status == 202)
                        }
                        // By then the first claims, which took every slot, are answered, and the limit has shrunk as often as it had to.
                        try await eventually("1,500 are received") { simulator.requests(provider: .fcm).count >= 1500 }
                        let before = simulator.requests(provider: .fcm).count
                        let page: [String: Any] = [
                            "sendId": "page", "token": "fcm-token-of-page", "provider": "fcm", "app": "a", "title": "t", "critical": true,
                        ]
                        #expect(try await server.api.post("/sends", page).status == 202)
                        func place() -> Int? { simulator.requests(provider: .fcm).firstIndex { $0.token == "fcm-token-of-page" } }
                        try await eventually("the page is received") { place() != nil }
                        #expect((place() ?? .max) - before < 250, "\((place() ?? .max) - before) pushes came first")
                        #expect(before < 2000, "there was nothing left to overtake")
                    }
                }
            }
        }
    }
}
