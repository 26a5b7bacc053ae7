import Access
import ArgumentParser
import Audit
import CommandLineKit
import Foundation
import Postgres
import PushContract
import Server

/// `pushwatch sessions …`
struct SessionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions",
        abstract: "List who is signed in to the on-call site, and end sessions.",
        subcommands: [List.self, End.self]
    )

    /// `pushwatch sessions list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the sessions that are open, newest first.",
            discussion: "Sessions are opened with API keys. People whom a proxy signs in have none here: their sessions end at the proxy."
        )

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Ended ones of the last 30 days, too.") var all = false
        @Flag(help: "Print JSON.") var json = false

        struct Row: Encodable {
            var id: String
            var person: String
            var keyId: String
            var createdAt: Timestamp
            var lastUsedAt: Timestamp
            var state: String
        }

        func run() async throws {
            try await options.withPool { pool, configuration in
                let now = Timestamp.now()
                // Whether the servers have a bootstrap key, and which, is not known here.
                let keyIds = try await APIKeyStore(pool).sessionKeyIds(now: now).union([BootstrapKey.id])
                let rows = try await SessionStore(pool).list().compactMap { session -> Row? in
                    let end = session.end(configuration.sessionLimits, keyIds: keyIds, now: now)
                    guard all || end == nil else { return nil }
                    return Row(
                        id: session.id,
                        person: session.person,
                        keyId: session.keyId,
                        createdAt: session.createdAt,
                        lastUsedAt: session.lastUsedAt,
                        state: Self.state(end, session)
                    )
                }
                if json { return try Terminal.printLine(json: rows) }
                guard !rows.isEmpty else { return Terminal.printLine("Nobody is signed in.") }
                let cells = rows.map { [$0.id, $0.person, $0.keyId, $0.createdAt.rfc3339, $0.lastUsedAt.rfc3339, $0.state] }
                Terminal.printLine(TextTable(["ID", "PERSON", "KEY", "SINCE", "LAST USED", "STATE"], cells).text)
            }
        }

        private static func state(_ end: Session.End?, _ session: Session) -> String {
            switch end {
            case nil: "open"
            case .ended(let by): "ended \(session.endedAt?.rfc3339 ?? "") by \(by)"
            case .idle: "ended: idle"
            case .tooOld: "ended: too old"
            case .withoutKey: "ended: its key is revoked or expired"
            }
        }
    }

    /// `pushwatch sessions end`
    struct End: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a session, those of a key, or all, at once and at every instance.",
            discussion: """
                  pushwatch sessions end k3vq9x2mab
                  pushwatch sessions end --key-id bootstrap
                  pushwatch sessions end --all
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The session's id, as `pushwatch sessions list` shows it.") var id: String?
        @Option(help: "End all sessions that were opened with this key.") var keyId: String?
        @Flag(help: "End all sessions.") var all = false
        @Option(help: "Who ends them.") var author: String = NSUserName()
        @Flag(help: "Print JSON: how many ended.") var json = false

        func validate() throws {
            guard [id != nil, keyId != nil, all].count(where: { $0 }) == 1 else {
                throw ValidationError("Give either the id of a session, or --key-id, or --all.")
            }
        }

        func run() async throws {
            try await options.withPool { pool, _ in
                let now = Timestamp.now()
                let actor = "\(author), on the command line"
                let ended = try await pool.withTransaction { transaction in
                    let store = SessionStore(transaction)
                    let ended: Int
                    if let id {
                        ended = try await store.end(id: id, by: actor, now: now) == nil ? 0 : 1
                        guard ended == 1 else {
                            throw CommandFailure.check("No open session has the id `\(id)`; `pushwatch sessions list` lists them.")
                        }
                    } else {
                        ended = try await store.endAll(keyId: keyId, by: actor, now: now)
                    }
                    let subject = id ?? keyId.map { "of the key \($0)" } ?? "all"
                    try await AuditRecorder(by: author, at: now).note(.endSession, subject, "\(ended) ended", on: transaction)
                    return ended
                }
                if json { return try Terminal.printLine(json: ["ended": ended]) }
                Terminal.printLine(ended == 1 ? "1 session has ended." : "\(ended) sessions have ended.")
            }
        }
    }
}
