import CommandLineKit
import Foundation
import HTTPClient
import ProviderSimulator
import PushContract
import ServiceLifecycle

/// A football match, a delivery and a pager, played over and over through the API, each followed by the owner of a simulated phone and of
/// an Android device.
struct DemoSubjects: Service {
    let run: LocalRun
    let demo: DemoScale
    let url: String
    let client: CurlClient

    /// The owner of an Android device that `DemoTraffic` registered.
    private static let androidOwner = DemoPerson(11).uid

    func run() async throws {
        let transport = HTTPPushTransport(url: url, client: client) { [issuer = run.installation.issuer] uid in
            try? await issuer.token(userId: uid, now: Date())
        }
        let scripts = try DemoSubjects.scripts()
        let phones = scripts.map { script in
            var setup = SimulatedPhone.Setup(name: owner(of: script))
            setup.boot = "\(Timestamp.now().seconds)-"
            return SimulatedPhone(setup, transport: PhoneTransport(transport), simulator: run.simulator)
        }
        // Signed in before the first state; from then on only pushes wake the app.
        for phone in phones {
            await phone.open(as: phone.name)
            await phone.leave()
        }
        let fleet = PhoneFleet(phones) { _ in }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await fleet.run() }
            for script in scripts { group.addTask { try await repeated(script).run() } }
            try await group.waitForAll()
        }
    }

    private func owner(of script: SubjectScript) -> String { "demo-\(script.type)" }

    private func repeated(_ script: SubjectScript) -> RepeatedSubject {
        RepeatedSubject(
            script,
            followers: [owner(of: script), DemoSubjects.androidOwner],
            url: url,
            key: run.installation.apiKey,
            send: { [client] in try await client.send($0) },
            pause: { [demo] in try await Task.sleep(for: $0.duration * demo.subjectPace) },
            notify: { news in
                guard case .shown(let path, 0) = news else { return }
                Terminal.printLine("── LIVE   curl -s \(url)\(path) -H 'Authorization: Bearer \(run.installation.apiKey)'")
            }
        )
    }

    private static func scripts() throws -> [SubjectScript] {
        let directory = try ProjectFiles.locate("live-activities/demo")
        return try ["football", "delivery", "pager"].map { name in
            let path = "\(directory)/\(name).json"
            guard let data = FileManager.default.contents(atPath: path) else {
                throw CommandFailure.environment("The demo's script \(path) cannot be read.")
            }
            do {
                return try SubjectScript(json: data)
            } catch {
                throw CommandFailure.check("\(path) is not a script: \(error)")
            }
        }
    }
}
