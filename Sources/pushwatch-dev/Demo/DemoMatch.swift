import CommandLineKit
import Cricket
import Foundation
import HTTPClient
import Logging
import ProviderSimulator
import PushContract
import ServiceLifecycle

/// The bundled match, played over and over through the API, and the simulated phones whose owners follow it.
struct DemoMatch: Service {
    let run: LocalRun
    let demo: DemoScale
    let url: String
    let client: CurlClient
    let logger: Logger

    func run() async throws {
        let transport = HTTPPushTransport(url: url, client: client) { [issuer = run.installation.issuer] uid in
            try? await issuer.token(userId: uid, now: Date())
        }
        let followers = FollowerFleet(FollowerFleet.mixed(boot: "\(Timestamp.now().seconds)-") { "demo-fan-\($0)" }) {
            SimulatedPhone($0, transport: PhoneTransport(transport), simulator: run.simulator)
        }
        let kept = KeptFixture(directory: run.installation.directory)
        let match = RepeatedMatch(
            try DemoMatch.script(),
            pace: demo.pace,
            unfinished: kept.fixture,
            feeder: { [url, client, key = run.installation.apiKey] feed in
                MatchFeeder(feed: feed, url: url, key: key) { try await client.send($0) }
            },
            notify: { news in await notify(news, followers, kept) }
        )
        let fleet = PhoneFleet(followers.phones) { await followers.live($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await match.run() }
            group.addTask { try await fleet.run() }
            try await group.waitForAll()
        }
    }

    private func notify(_ news: RepeatedMatch.News, _ followers: FollowerFleet, _ kept: KeptFixture) async {
        switch news {
        case .announced(let fixture):
            kept.fixture = fixture
            followers.turn(to: fixture.matchId)
            Terminal.printLine(
                """
                ── MATCH  \(fixture.matchId) begins in 20 seconds; \(followers.phones.count) simulated phones follow it
                   curl -s \(url)/matches/\(fixture.matchId) -H 'Authorization: Bearer \(run.installation.apiKey)'
                """
            )
        case .over(let fixture):
            kept.fixture = nil
            var tally = PhoneTally()
            for phone in followers.phones { tally = tally + (await phone.tally) }
            Terminal.printLine(
                "── MATCH OVER  \(fixture.matchId); so far \(tally.starts) Live Activities appeared and were updated \(tally.updates) times"
            )
        case .refused(let fixture, let why):
            kept.fixture = nil
            logger.warning("the demo match was refused", metadata: ["match": "\(fixture.matchId)", "why": "\(why)"])
        }
    }

    private static func script() throws -> MatchScript {
        let path = try ProjectFiles.locate("matches/demo.json")
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CommandFailure.environment("The demo match \(path) cannot be read.")
        }
        do {
            return MatchScript(try CricsheetMatch.read(json: data))
        } catch {
            throw CommandFailure.check("\(path) is not a match in the Cricsheet format: \(error)")
        }
    }
}

/// The match that is being played, in the state directory: the next run ends it when this one could not.
private struct KeptFixture: Sendable {
    private let path: String

    init(directory: String) { path = directory + "/demo-match" }

    var fixture: RepeatedMatch.Fixture? {
        get {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
            return Timestamp(rfc3339: text).map { RepeatedMatch.Fixture(startAt: $0) }
        }
        nonmutating set {
            guard let newValue else {
                try? FileManager.default.removeItem(atPath: path)
                return
            }
            // Without it a match of this run may stay live after the next start; nothing else depends on it.
            try? PrivateFile.write(newValue.startAt.rfc3339, to: path)
        }
    }
}
