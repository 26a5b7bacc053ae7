import Delivery
import Foundation
import Logging
import ProviderSimulator
import PushContract
import Testing

@testable import Server

@Suite struct CredentialFileTests {
    private func entries(_ yaml: String) throws -> [CredentialEntry] {
        try CredentialFile.entries(yaml: yaml, directory: URL(filePath: "/etc/pushwatch"), name: "credentials.yml")
    }

    @Test("several teams, keys and projects, each with its apps and endpoints; the one that names the app goes before the one for all")
    func choice() throws {
        let entries = try entries(
            """
            apns:
              - {teamId: AAAAAAAAAA, keyId: KEY1111111, keyFile: all.p8}
              - {teamId: BBBBBBBBBB, keyId: KEY2222222, keyFile: /keys/b.p8, apps: [com.b], sandbox: none, caFile: ca.pem}
            fcm:
              - {serviceAccountFile: b.json, apps: [com.b], projectId: b-1, url: "https://localhost:1/", tokenURL: "https://localhost:1/token"}
            """
        )
        #expect(entries.map(\.keyFile) == ["/etc/pushwatch/all.p8", "/keys/b.p8", "/etc/pushwatch/b.json"])
        #expect(CredentialEntry.index(of: entries, .apns, app: "com.b", .production) == 1)
        #expect(CredentialEntry.index(of: entries, .apns, app: "com.b", .sandbox) == 0)
        #expect(CredentialEntry.index(of: entries, .apns, app: "com.a", .production) == 0)
        #expect(CredentialEntry.index(of: entries, .fcm, app: "com.b", .production) == 2)
        #expect(CredentialEntry.index(of: entries, .fcm, app: "com.a", .production) == nil)
        #expect(entries[1].caFile == "/etc/pushwatch/ca.pem")
        guard case .fcm(let fcm) = entries[2].kind else { throw CancellationError() }
        #expect(fcm.url == "https://localhost:1" && fcm.tokenURL == "https://localhost:1/token" && fcm.projectId == "b-1")
    }

    @Test(
        "what is wrong with the file is said with its place",
        arguments: [
            ("apns: [{teamId: A, keyId: B}]", "apns[0].keyFile is missing"), ("apsn: []", "\"apsn\" is not known"),
            ("fcm: [{serviceAccountFile: a, ulr: x}]", "fcm[0].ulr is not known"),
            ("fcm: [{serviceAccountFile: a, url: 'http://x'}]", "fcm[0].url must begin with https://"),
            ("apns: [{teamId: A, keyId: B, keyFile: c, production: none, sandbox: none}]", "cannot both be none"), ("[1", "is not YAML"),
        ]
    )
    func faults(yaml: String, complaint: String) {
        let error = #expect(throws: ConfigurationError.self) { try entries(yaml) }
        #expect(error?.description.contains(complaint) == true, "\(error?.description ?? "")")
    }

    @Test(
        "registrations have a default platform and app where every credential is for APNs and one app",
        arguments: [
            ("apns: [{teamId: A, keyId: B, keyFile: c, apps: [com.a]}]", "com.a"),
            ("apns: [{teamId: A, keyId: B, keyFile: c, apps: [com.a]}, {teamId: A, keyId: D, keyFile: d, apps: [com.a]}]", "com.a"),
            ("apns: [{teamId: A, keyId: B, keyFile: c}]", nil),
            ("apns: [{teamId: A, keyId: B, keyFile: c, apps: [com.a, com.b]}]", nil),
            ("apns: [{teamId: A, keyId: B, keyFile: c, apps: [com.a]}]\nfcm: [{serviceAccountFile: a, apps: [com.a]}]", nil),
            ("fcm: [{serviceAccountFile: a, apps: [com.a]}]", nil), ("{}", nil),
        ] as [(String, String?)]
    )
    func defaults(yaml: String, app: String?) throws {
        #expect(DeviceDefaults(try entries(yaml)) == DeviceDefaults(platform: app.map { _ in .ios }, app: app))
    }

    @Test("a changed key takes over once the provider has accepted it; one it refuses, or that is no key, never does")
    func rollOver() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let silence = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        try await ProviderSimulator.running(SimulatorConfiguration(directory: directory)) { simulator, endpoints in
            let key = simulator.credentials.apns
            let file = directory + "/key.p8"
            func write(_ pem: String, age: Double) throws {
                try pem.write(toFile: file, atomically: true, encoding: .utf8)
                let written = Date(timeIntervalSinceNow: -age)
                try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: file)
            }
            try write(key.privateKeyPEM, age: 10 * 86_400 + 60)
            var configuration = ServerConfiguration(databaseURL: "postgresql://nowhere")
            configuration.providersCAFile = endpoints.caFile
            configuration.apns = .init(
                teamId: key.teamId,
                keyId: key.keyId,
                keyFile: file,
                productionURL: endpoints.apnsURL,
                sandboxURL: endpoints.apnsURL
            )
            let verdicts = try await CredentialCheck.run(configuration, app: "com.example.app", now: .now(), logger: silence)
            #expect(verdicts.map(\.state) == [.accepted, .accepted], "\(verdicts)")
            #expect(verdicts.first?.keyAgeDays == 10)
            let registry = try ProviderRegistry(configuration, logger: silence)
            #expect(
                registry.lookup(.apns, app: "any", environment: .sandbox) != nil
                    && registry.lookup(.fcm, app: "any", environment: .sandbox) == nil
            )
            simulator.removeRequests()
            // Another's key: well formed, and refused.
            try write(try SimulatorCredentials.generate().apns.privateKeyPEM, age: 5)
            await registry.refresh(now: .now())
            #expect(registry.fault?.contains("InvalidProviderToken") == true, "\(registry.fault ?? "no fault")")
            try write("no key", age: 4)
            await registry.refresh(now: .now())
            #expect(registry.fault?.contains("PEM") == true, "\(registry.fault ?? "no fault")")
            try write(key.privateKeyPEM, age: 3)
            await registry.refresh(now: .now())
            #expect(registry.fault == nil)
            #expect(simulator.requests(provider: .apns).allSatisfy { $0.token == String(repeating: "0", count: 64) })
        }
    }
}
