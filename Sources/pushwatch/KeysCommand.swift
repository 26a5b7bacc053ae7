import Access
import ArgumentParser
import Audit
import CommandLineKit
import Foundation
import HTTPServer
import Logging
import Postgres
import PushContract
import Server

/// `pushwatch keys …`
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Create, list, rotate and revoke API keys.",
        subcommands: [List.self, Create.self, Rotate.self, Revoke.self]
    )

    /// `pushwatch keys create`
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key. It is printed once; only its hash is stored.",
            discussion: """
                  pushwatch keys create --name ingest --scope attempts:write --quota-per-minute 6000 --expires 90d
                  pushwatch keys create --name scores --scope sends:write --app com.example.scores

                Scopes: \(Scope.grantable.map(\.rawValue).joined(separator: ", ")).

                A key with --app may write for these apps only, and calls nothing that concerns every app. What it may read, its scopes say.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "What the key is for.") var name: String
        @Option(help: "What the key may do; repeatable.") var scope: [String]
        @Option(name: .customLong("app"), help: "An app the key may write for; repeatable. Every app unless given.") var apps: [String] = []
        @Option(help: "Requests a minute; no quota unless given.") var quotaPerMinute: Int?
        @Option(
            help: "How long it is valid, such as 90d, or until when, such as 2027-01-31. For ever unless given.",
            transform: CommandMoment.parse
        )
        var expires: CommandMoment?
        @Option(help: "Who creates it.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the key and its id.") var json = false

        func validate() throws {
            if let unknown = scope.first(where: { !Scope(rawValue: $0).isKnown }) {
                let known = Scope.grantable.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("--scope: unknown scope \"\(unknown)\"; expected one of \(known).")
            }
        }

        func run() async throws {
            let made = try await withKeys(options) { store, transaction in
                let now = Timestamp.now()
                let made = try await store.create(
                    name: name,
                    scopes: Set(scope.map(Scope.init(rawValue:))),
                    quotaPerMinute: quotaPerMinute,
                    apps: KeyApps(apps.isEmpty ? nil : apps),
                    expiresAt: expires?.moment(now: now),
                    createdBy: author,
                    now: now
                )
                try await AuditRecorder(by: author, at: now).note(
                    .createKey,
                    "\(name) (\(made.key.id))",
                    scope.sorted().joined(separator: ", "),
                    after: KeyDocument(made.key),
                    on: transaction
                )
                return made
            }
            if json { return try Terminal.printLine(json: ["id": made.key.id, "key": made.text.text]) }
            Terminal.printLine(made.text.text)
            Terminal.printError("Store it now: it is not shown again. Revoke it with `pushwatch keys revoke \(made.key.id)`.")
        }
    }

    /// `pushwatch keys list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the keys, newest first.",
            discussion: "LAST USED is right to about a minute."
        )

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await options.withPool(asOwner: true) { pool, _ in
                let keys = try await APIKeyStore(pool).list()
                let rows = keys.map { KeyDocument($0, among: keys) }
                if json { return try Terminal.printLine(json: rows) }
                let now = Timestamp.now()
                Terminal.printLine(TextTable(KeyDocument.columns, rows.map { $0.cells(now: now) }).text)
            }
        }
    }

    /// `pushwatch keys rotate ID`
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key that replaces another. Both work until the old one expires.",
            discussion: """
                  pushwatch keys rotate k3x9 --overlap 7d

                The new key has the name, scopes, apps and quota of the old one, and is valid for as long as that was. It is printed once.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The old key's id, as `pushwatch keys list` shows it.") var id: String
        @Option(
            help: "How long the old key works on, at most 365d; 7d unless given.",
            transform: CommandDuration.within(.seconds(0)...(.days(365)))
        )
        var overlap = CommandDuration.days(7)
        @Option(
            help: "How long the new key is valid, such as 90d, or until when. As long as the old one was, unless given.",
            transform: CommandMoment.parse
        )
        var expires: CommandMoment?
        @Option(help: "Who rotates it.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the new key, its id, and when the old one expires.") var json = false

        func run() async throws {
            let made = try await withKeys(options) { store, transaction in
                let now = Timestamp.now()
                let made = try await store.rotate(
                    id: id,
                    overlap: overlap.duration,
                    expiry: expires?.moment(now: now),
                    createdBy: author,
                    now: now
                )
                let audit = AuditRecorder(by: author, at: now)
                try await audit.note(
                    .rotateKey,
                    "\(made.replacement.name) (\(id))",
                    "replaced by \(made.replacement.id)",
                    before: KeyDocument(made.before),
                    after: KeyDocument(made.old, among: [made.replacement]),
                    on: transaction
                )
                try await audit.note(
                    .createKey,
                    "\(made.replacement.name) (\(made.replacement.id))",
                    "replaces \(id)",
                    after: KeyDocument(made.replacement),
                    on: transaction
                )
                return made
            }
            let end = made.old.expiresAt?.rfc3339 ?? ""
            if json { return try Terminal.printLine(json: ["id": made.replacement.id, "key": made.text.text, "oldExpiresAt": end]) }
            Terminal.printLine(made.text.text)
            Terminal.printError("Store it now: it is not shown again. The key \(id) works until \(end).")
        }
    }

    /// `pushwatch keys revoke ID`
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke a key. Servers stop accepting it within 30 seconds.")

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The key's id, as `pushwatch keys list` shows it.") var id: String
        @Option(help: "Who revokes it.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the key's id.") var json = false

        func run() async throws {
            try await withKeys(options) { store, transaction in
                let now = Timestamp.now()
                guard let revoked = try await store.revoke(id: id, now: now) else {
                    throw CommandFailure.check("No active key has the id `\(id)`.")
                }
                var before = revoked
                before.revokedAt = nil
                try await AuditRecorder(by: author, at: now).note(
                    .revokeKey,
                    id,
                    before: KeyDocument(before),
                    after: KeyDocument(revoked),
                    on: transaction
                )
            }
            if json { try Terminal.printLine(json: ["revoked": id]) }
        }
    }
}

/// Changes keys in one transaction with what the audit keeps of that.
@discardableResult
private func withKeys<Value>(
    _ options: ConfigurationOptions,
    _ body: (APIKeyStore, PostgresTransaction) async throws -> Value
) async throws -> Value {
    try await options.withPool(asOwner: true) { pool, _ in
        do {
            return try await pool.withTransaction { try await body(APIKeyStore($0), $0) }
        } catch let refusal as APIKeyStore.Refusal {
            if case .notActive = refusal { throw CommandFailure.check(refusal.description) }
            throw CommandFailure.usage(refusal.description)
        }
    }
}
