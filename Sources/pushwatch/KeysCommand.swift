import Access
import ArgumentParser
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
        abstract: "Create, list and revoke API keys.",
        subcommands: [List.self, Create.self, Revoke.self]
    )

    /// `pushwatch keys create`
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key. It is printed once; only its hash is stored.",
            discussion: """
                  pushwatch keys create --name ingest --scope attempts:write --quota-per-minute 6000

                Scopes: \(Scope.grantable.map(\.rawValue).joined(separator: ", ")).
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "What the key is for.") var name: String
        @Option(help: "What the key may do; repeatable.") var scope: [String]
        @Option(help: "Requests a minute; no quota unless given.") var quotaPerMinute: Int?
        @Option(help: "Who creates it.") var author: String = NSUserName()
        @Flag(help: "Print JSON: the key and its id.") var json = false

        func run() async throws {
            try await withKeys(options) { store, audit in
                let now = Timestamp.now()
                let made = try await store.create(
                    name: name,
                    scopes: Set(scope.map(Scope.init(rawValue:))),
                    quotaPerMinute: quotaPerMinute,
                    createdBy: author,
                    now: now
                )
                try await audit.record(
                    AuditEntry(.createKey, "\(name) (\(made.key.id))", scope.sorted().joined(separator: ", "), by: author, at: now)
                )
                if json { return try Terminal.printLine(json: ["id": made.key.id, "key": made.text.text]) }
                Terminal.printLine(made.text.text)
                Terminal.printError("Store it now: it is not shown again. Revoke it with `pushwatch keys revoke \(made.key.id)`.")
            }
        }
    }

    /// `pushwatch keys list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the keys, newest first.")

        @OptionGroup var options: ConfigurationOptions
        @Flag(help: "Print JSON.") var json = false

        struct Row: Encodable {
            var id: String
            var name: String
            var scopes: [String]
            var quotaPerMinute: Int?
            var createdAt: Timestamp
            var createdBy: String
            var lastUsedAt: Timestamp?
            var revokedAt: Timestamp?

            init(_ key: APIKey) {
                id = key.id
                name = key.name
                scopes = key.scopes.map(\.rawValue).sorted()
                quotaPerMinute = key.quotaPerMinute
                createdAt = key.createdAt
                createdBy = key.createdBy
                lastUsedAt = key.lastUsedAt
                revokedAt = key.revokedAt
            }

            var cells: [String] {
                let state = revokedAt.map { "revoked \($0)" } ?? lastUsedAt.map { "last used \($0)" } ?? "never used"
                return [id, name, scopes.joined(separator: ","), quotaPerMinute.map { "\($0)" } ?? "none", state]
            }
        }

        func run() async throws {
            try await withKeys(options) { store, _ in
                let rows = try await store.list().map(Row.init)
                if json { return try Terminal.printLine(json: rows) }
                Terminal.printLine(TextTable(["ID", "NAME", "SCOPES", "QUOTA PER MINUTE", "STATE"], rows.map(\.cells)).text)
            }
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
            try await withKeys(options) { store, audit in
                let now = Timestamp.now()
                guard try await store.revoke(id: id, now: now) else { throw CommandFailure.check("No active key has the id `\(id)`.") }
                try await audit.record(AuditEntry(.revokeKey, id, "", by: author, at: now))
                if json { try Terminal.printLine(json: ["revoked": id]) }
            }
        }
    }
}

extension AuditEntry {
    fileprivate init(_ action: AuditAction, _ subject: String, _ detail: String, by author: String, at now: Timestamp) {
        self.init(at: now, actor: "\(author), on the command line", action: action, subject: subject, detail: detail)
    }
}

private func withKeys(_ options: ConfigurationOptions, _ body: (APIKeyStore, AuditLog) async throws -> Void) async throws {
    try await options.withPool { pool, _ in
        do {
            try await body(APIKeyStore(pool), AuditLog(pool))
        } catch let refusal as APIKeyStore.Refusal {
            throw CommandFailure.usage(refusal.description)
        }
    }
}
