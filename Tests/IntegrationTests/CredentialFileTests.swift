import Delivery
import Foundation
import Logging
import OnCall
import ProviderSimulator
import Providers
import PushContract
import TestDatabase
import Testing

@testable import Server

@Suite struct CredentialFileTests {
    private func entries(_ yaml: String) throws -> [CredentialEntry] {
        try CredentialFile.entries(SettingsFile(yaml: yaml, name: "credentials.yml"), directory: URL(filePath: "/etc/pushwatch"))
    }

    @Test("several teams, keys and projects, each with its apps and endpoints; the one that names the app goes before the one for all")
    func choice() throws {
        let entries = try entries(
            """
            apns:
              - {teamId: AAAAAAAAAA, keyId: KEY1111111, keyFile: all.p8}
              - {teamId: BBBBBBBBBB, keyId: KEY2222222, keyFile: /keys/b.p8, apps: [com.b], sandbox: none, caFile: ca.pem}
            fcm:
              - {serviceAccountFile: b.json, apps: [com.b], projectId: b-1, url: "https://localhost:1/",
                 tokenURL: "https://localhost:1/token"}
            """
        )
        #expect(entries.map(\.keyFile) == ["/etc/pushwatch/all.p8", "/keys/b.p8", "/etc/pushwatch/b.json"])
        #expect(CredentialEntry.index(of: entries, .apns, app: "com.b", .production) == 1)
        #expect(CredentialEntry.index(of: entries, .apns, app: "com.b", .sandbox) == nil, "its entry leaves the sandbox out")
        #expect(CredentialEntry.index(of: entries, .apns, app: "com.a", .production) == 0)
        #expect(CredentialEntry.index(of: entries, .fcm, app: "com.b", .production) == 2)
        #expect(CredentialEntry.index(of: entries, .fcm, app: "com.a", .production) == nil)
        // U+212A, the Kelvin sign, is canonically equivalent to K.
        let named = try self.entries("apns: [{teamId: A, keyId: B, keyFile: c, apps: [Kim]}]")
        #expect(CredentialEntry.index(of: named, .apns, app: "Kim", .production) == 0)
        #expect(CredentialEntry.index(of: named, .apns, app: "\u{212A}im", .production) == nil)
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
            ("fcm: [{serviceAccountFile: a, proxy: 'socks5://x'}]", "fcm[0].proxy must be http://"),
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

    /// A registry over a credentials file with one entry, at a simulator that trusts two keys.
    private struct Rotation {
        let registry: ProviderRegistry
        let simulator: ProviderSimulator
        let endpoints: SimulatorEndpoints
        let directory: String

        /// The credential that a push of any app is signed with.
        var credential: String? { registry.lookup(.apns, app: "any", environment: .sandbox)?.credential }

        static func with(
            _ first: APNsSigningKey,
            _ second: APNsSigningKey,
            roles: Set<ServerConfiguration.Role> = Set(ServerConfiguration.Role.allCases),
            _ body: (Rotation) async throws -> Void
        ) async throws {
            try await withTestDirectory { directory in
                var configuration = SimulatorConfiguration(directory: directory)
                var credentials = try SimulatorCredentials.generate()
                credentials.apns = first
                configuration.credentials = credentials
                configuration.furtherKeys = [second]
                try await ProviderSimulator.running(configuration) { simulator, endpoints in
                    try write(first.privateKeyPEM, keyId: first.keyId, in: directory, endpoints, age: 10 * 86_400 + 60)
                    var server = ServerConfiguration(databaseURL: "postgresql://nowhere")
                    server.providersCAFile = endpoints.caFile
                    server.credentialsFile = directory + "/credentials.yml"
                    server.roles = roles
                    let verdicts = try await CredentialCheck.run(server, app: "com.example.app", logger: .silent)
                    #expect(verdicts.map(\.state) == [.accepted, .accepted], "\(verdicts)")
                    #expect(verdicts.first?.keyAgeDays == 10)
                    #expect(verdicts.map(\.app) == ["com.example.app", "com.example.app"])
                    #expect(verdicts.map(\.endpoint) == [endpoints.apnsURL, endpoints.apnsURL])
                    // The clocks are the same; an answer may take seconds where many tests run.
                    #expect(verdicts.allSatisfy { abs($0.clockAheadSeconds ?? 100) <= 5 })
                    let registry = try ProviderRegistry(server, logger: .silent)
                    try await body(Rotation(registry: registry, simulator: simulator, endpoints: endpoints, directory: directory))
                }
            }
        }

        private static func write(_ pem: String, keyId: String, in directory: String, _ endpoints: SimulatorEndpoints, age: Double) throws {
            let file = directory + "/\(keyId).p8"
            try pem.write(toFile: file, atomically: true, encoding: .utf8)
            let written = Date(timeIntervalSinceNow: -age)
            try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: file)
            let entry =
                "{teamId: PWSIMTEAM1, keyId: \(keyId), keyFile: \(keyId).p8, production: '\(endpoints.apnsURL)', sandbox: '\(endpoints.apnsURL)'}"
            try "apns: [\(entry)]".write(toFile: directory + "/credentials.yml", atomically: true, encoding: .utf8)
        }

        /// Puts a key in place and looks at the files once.
        func change(_ pem: String, keyId: String, age: Double) async throws {
            try Self.write(pem, keyId: keyId, in: directory, endpoints, age: age)
            await registry.refresh(now: .now())
        }

        /// What APNs answers to a push that is signed with the credential in use.
        func push() async throws -> PushOutcome {
            let provider = try #require(registry.lookup(.apns, app: "com.example.app", environment: .sandbox))
            let token = String(repeating: "a1", count: 32)
            let target = PushTarget(provider: .apns, token: token, environment: .sandbox, app: "com.example.app")
            return await provider.send(PushMessage(title: "a"), to: target, attemptId: UUID().uuidString, now: .now())
        }
    }

    @Test(
        "an instance that pushes nothing takes a changed key without asking the provider, so that it knows the apps; but nothing that is no key"
    )
    func withoutPushing() async throws {
        let first = APNsSigningKey.generate()
        try await Rotation.with(first, APNsSigningKey.generate(keyId: "PWSIMKEY02"), roles: [.api, .alert]) { rotation in
            rotation.simulator.removeRequests()
            try await rotation.change("no key", keyId: "PWSIMKEY09", age: 9)
            #expect(rotation.registry.fault?.contains("PEM") == true, "\(rotation.registry.fault ?? "no fault")")
            try await rotation.change(APNsSigningKey.generate().privateKeyPEM, keyId: "PWSIMKEY09", age: 8)
            #expect(rotation.registry.fault == nil)
            #expect(rotation.credential?.hasPrefix("PWSIMTEAM1/PWSIMKEY09#") == true)
            #expect(rotation.simulator.requests(provider: .apns).isEmpty)
        }
    }

    @Test("a web server that is no provider accepts no credential, however it answers")
    func otherServer() async throws {
        let key = APNsSigningKey.generate()
        try await Rotation.with(key, APNsSigningKey.generate(keyId: "PWSIMKEY02")) { rotation in
            try key.privateKeyPEM.write(toFile: rotation.directory + "/key.p8", atomically: true, encoding: .utf8)
            let settings = CredentialEntry.APNs(
                teamId: "PWSIMTEAM1",
                keyId: key.keyId,
                keyFile: rotation.directory + "/key.p8",
                endpoints: [.production: rotation.endpoints.apnsURL + "/elsewhere"]
            )
            let entry = CredentialEntry(name: "wrong", kind: .apns(settings), caFile: rotation.endpoints.caFile)
            let provider = try PushProviders.make(entry, logger: .silent)
            let verdict = await CredentialCheck.verdict(provider, entry, now: { .now() })
            #expect(verdict.state == .unreachable && verdict.detail.contains("BadPath"), "\(verdict)")
            let bare = await CredentialCheck.verdict(BareServer(), entry, now: { .now() })
            #expect(bare.state == .unreachable && bare.detail.contains("404"), "\(bare)")
            let failing = PushOutcome.failed(
                Classification(.provider5xx, retry: .backoff),
                code: "UNAVAILABLE",
                detail: "FCM answered 503 UNAVAILABLE",
                httpStatus: 503
            )
            let untested = await CredentialCheck.verdict(BareServer(outcome: failing), entry, now: { .now() })
            #expect(untested.state.text == "not tested" && untested.detail == "FCM answered 503 UNAVAILABLE", "\(untested)")
        }
    }

    @Test("a changed key that the provider refuses is tested less and less often, and at once when it changes again")
    func refusedAgain() async throws {
        let (first, second) = (APNsSigningKey.generate(), APNsSigningKey.generate(keyId: "PWSIMKEY02"))
        try await Rotation.with(first, second) { rotation in
            rotation.simulator.removeRequests()
            var tests: Int { rotation.simulator.requests(provider: .apns).count }
            let before = Timestamp.now()
            try await rotation.change(APNsSigningKey.generate().privateKeyPEM, keyId: first.keyId, age: 9)
            let after = Timestamp.now()
            let each = tests
            #expect(each > 0)
            let moments = [(before + .seconds(4), 1), (after + .seconds(5), 2), (after + .seconds(14), 2), (after + .seconds(15), 3)]
            for (now, times) in moments {
                await rotation.registry.refresh(now: now)
                #expect(tests == each * times)
                #expect(rotation.registry.fault?.contains("InvalidProviderToken") == true)
            }
            try await rotation.change(second.privateKeyPEM, keyId: second.keyId, age: 3)
            #expect(rotation.registry.fault == nil)
            #expect(rotation.credential?.hasPrefix("PWSIMTEAM1/PWSIMKEY02#") == true)
        }
    }

    @Test("a changed key takes over once the provider has accepted it; one it refuses, or that is no key, never does")
    func rollOver() async throws {
        let (first, second) = (APNsSigningKey.generate(), APNsSigningKey.generate(keyId: "PWSIMKEY02"))
        try await Rotation.with(first, second) { rotation in
            let registry = rotation.registry
            #expect(registry.lookup(.fcm, app: "any", environment: .sandbox) == nil)
            let initial = try #require(rotation.credential)
            #expect(initial.hasPrefix("PWSIMTEAM1/PWSIMKEY01#"))
            rotation.simulator.removeRequests()
            // Of nobody: well formed, and refused; first under the old id, then under one of its own.
            for (keyId, age) in [(first.keyId, 9.0), ("PWSIMKEY09", 8)] {
                try await rotation.change(APNsSigningKey.generate().privateKeyPEM, keyId: keyId, age: age)
                #expect(registry.fault?.contains("InvalidProviderToken") == true, "\(registry.fault ?? "no fault")")
                #expect(rotation.credential == initial)
                #expect(registry.states(now: .now()).map { $0.fault == nil } == [false])
            }
            try await rotation.change("no key", keyId: second.keyId, age: 4)
            #expect(registry.fault?.contains("PEM") == true, "\(registry.fault ?? "no fault")")
            #expect(rotation.credential == initial)
            #expect(try await rotation.push().status == .sent)
            try await rotation.change(second.privateKeyPEM, keyId: second.keyId, age: 3)
            #expect(registry.fault == nil)
            #expect(rotation.credential?.hasPrefix("PWSIMTEAM1/PWSIMKEY02#") == true)
            #expect(try await rotation.push().status == .sent)
            let pushes = rotation.simulator.requests(provider: .apns).filter { $0.token != String(repeating: "0", count: 64) }
            #expect(pushes.count == 2 && Set(pushes.compactMap { $0.header("authorization") }).count == 2)
        }
    }

    @Test("a changed service account takes over once Google has accepted it; one it refuses, or that is none, never does")
    func serviceAccount() async throws {
        try await withTestDirectory { directory in
            let (credentials, second) = (try SimulatorCredentials.generate(), try GoogleServiceAccount.generate())
            var configuration = SimulatorConfiguration(directory: directory)
            configuration.credentials = credentials
            configuration.furtherAccounts = [second]
            try await ProviderSimulator.running(configuration) { simulator, endpoints in
                let file = directory + "/account.json"
                func write(_ text: String, age: Double) throws {
                    try text.write(toFile: file, atomically: true, encoding: .utf8)
                    let written = Date(timeIntervalSinceNow: -age)
                    try FileManager.default.setAttributes([.modificationDate: written], ofItemAtPath: file)
                }
                try write(credentials.google.keyFile(tokenURL: endpoints.oauthTokenURL), age: 10)
                var server = ServerConfiguration(databaseURL: "postgresql://nowhere")
                server.providersCAFile = endpoints.caFile
                server.fcm = .init(serviceAccountFile: file, url: endpoints.fcmURL)
                let registry = try ProviderRegistry(server, logger: .silent)
                func provider() throws -> any PushProvider {
                    try #require(registry.lookup(.fcm, app: "com.example.app", environment: .production))
                }
                func push() async throws -> PushOutcome {
                    let token = "cFy3xYtuT1W8fake:APA91bExampleExampleExample"
                    let target = PushTarget(provider: .fcm, token: token, environment: .production, app: "com.example.app")
                    return try await provider().send(PushMessage(title: "a"), to: target, attemptId: UUID().uuidString, now: .now())
                }
                let initial = try provider().credential
                // Of nobody: well formed, and refused; then none at all.
                let unknown = try GoogleServiceAccount.generate().keyFile(tokenURL: endpoints.oauthTokenURL)
                for (text, age, fault) in [(unknown, 9.0, "invalid_grant"), ("no account", 4, "not a JSON object")] {
                    try write(text, age: age)
                    await registry.refresh(now: .now())
                    #expect(registry.fault?.contains(fault) == true, "\(registry.fault ?? "no fault")")
                    #expect(try provider().credential == initial)
                    #expect(try await push().status == .sent)
                }
                try write(second.keyFile(tokenURL: endpoints.oauthTokenURL), age: 3)
                await registry.refresh(now: .now())
                #expect(registry.fault == nil)
                #expect(try provider().credential != initial)
                #expect(try await push().status == .sent)
                #expect(Set(simulator.requests(provider: .fcm).compactMap { $0.header("authorization") }).count == 2)
            }
        }
    }
}

extension WholeService {
    @Suite("A credentials file that cannot be read")
    struct BrokenCredentialsFileTests {
        @Test("the check of the credentials answers a browser with a page that names the file")
        func page() async throws {
            try await withTestDirectory { directory in
                let file = directory + "/credentials.yml"
                try "{}".write(toFile: file, atomically: true, encoding: .utf8)
                try await withServer(adjust: { $0.credentialsFile = file }) { server in
                    try "apsn: []".write(toFile: file, atomically: true, encoding: .utf8)
                    let answer = try await server.api.call(
                        "POST",
                        "/oncall/credentials/check",
                        type: "application/x-www-form-urlencoded",
                        headers: [("accept", "text/html"), ("sec-fetch-site", "same-origin")],
                        body: Array("back=%2F".utf8)
                    )
                    #expect(answer.status == 503 && answer[header: "content-type"]?.hasPrefix("text/html") == true)
                    #expect(answer.text.contains("credentials.yml") && answer.text.contains("is not known"), "\(answer.text)")
                    #expect(answer.text.contains("<a href=\"/\">"), "\(answer.text)")
                }
            }
        }
    }
}

/// Answers as any web server does.
private struct BareServer: PushProvider {
    var outcome = PushOutcome.failed(Classification(.unknown, retry: .never), detail: "not found", httpStatus: 404)
    var credential: String { "key" }

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome { outcome }
}
