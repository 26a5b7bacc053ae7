import HTTPServer
import Postgres
import Providers
import PushContract
import ServiceKit
import Synchronization
import TestDatabase
import Testing

@testable import Delivery

@Suite("Texts that sends name")
struct SendTextTests {
    private static let texts = SendTexts([
        "com.example.app": [
            "goal": [
                "de": .init(title: "Tor", body: "{who} trifft"), "EN": .init(title: "Goal", body: "{who} scores"),
                "pt_BR": .init(title: "Gol"),
            ]
        ],
        "*": ["goal": ["fr": .init(title: "But")], "end": ["de": .init(title: "Schluss")]],
    ])

    @Test(
        "the text is that of the locale, its language, English, or the first; an app's own before that of every app",
        arguments: [
            ("goal", "com.example.app", "de-AT", "Tor"), ("goal", "com.example.app", "pt-br", "Gol"),
            ("goal", "com.example.app", "pt", "Goal"),
            ("goal", "com.example.app", nil, "Goal"), ("goal", "other", "de", "But"), ("end", "com.example.app", "en", "Schluss"),
            ("none", "other", nil, nil),
        ] as [(String, String, String?, String?)]
    )
    func choice(name: String, app: String, locale: String?, title: String?) {
        #expect(Self.texts.text(name, app: app, locale: locale)?.title == title)
    }

    @Test("each device gets the text of its locale, with its values; an unknown text is 422")
    func sent() async throws {
        try await SendingBench.with { bench in
            let store = SendStore(
                pool: bench.pool,
                cipher: bench.cipher,
                texts: Self.texts,
                record: AttemptRecording.recorder(slot: 9, logger: .silent)
            )
            for (number, locale) in [(1, "de-CH"), (2, "en"), (3, nil)] as [(Int, String?)] {
                let device = try await bench.register("ann", "d\(number)", token: SendingBench.token(number), locale: locale)
                #expect(device.locale == locale)
            }
            let provider = ScriptedProvider()
            let seen = Mutex<[String: String]>([:])
            provider.answer { message, token in
                seen.withLock { $0[token] = "\(message.title ?? "-")/\(message.body ?? "-")" }
                return nil
            }
            func send(_ name: String) async throws -> SendReceipt? {
                let json = #"{"uid": "ann", "text": {"name": "\#(name)", "values": {"who": "Ada"}}}"#
                let request = try SendRequest(try JSONParser.parse(Array(json.utf8)), now: .now())
                let check = SendValidation.checker(provider.lookup, texts: Self.texts)
                return try await store.enqueue([request], requestId: "r", author: "test", now: .now(), check: check).first
            }
            guard case .refused(let problem)? = try await send("nothing") else { throw CancellationError() }
            #expect(problem.code == "unknown_text" && problem.pointer == "/text/name")
            guard case .accepted(3, _)? = try await send("goal") else { throw CancellationError() }
            try await SendDispatcher(
                store: store,
                throttles: bench.throttles,
                lookup: provider.lookup,
                configuration: DispatcherConfiguration(delays: .quick(.zero), worker: "test"),
                logger: .silent
            ).runUntilIdle()
            #expect(
                seen.withLock { $0 } == [
                    SendingBench.token(1): "Tor/Ada trifft", SendingBench.token(2): "Goal/Ada scores",
                    SendingBench.token(3): "Goal/Ada scores",
                ]
            )
        }
    }
}
