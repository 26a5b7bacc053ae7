import Access
import ArgumentParser
import Foundation
import HTTPServer
import Logging
import Postgres
import PushContract
import Server

/// `pushwatch keys …`
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-keys",
        abstract: "Make, list and revoke API keys; make keys for push tokens.",
        subcommands: [Create.self, List.self, Revoke.self, TokenKeysCreateCommand.self, TokenKeysRotateCommand.self]
    )

    /// `pushwatch api-keys create`
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key. Its text is printed once; only a hash is kept.",
            discussion: "Scopes: \(Scope.allScopes.map(\.rawValue).joined(separator: ", "))."
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "What the key is for.") var name: String
        @Option(help: "What the key may do; repeatable.") var scope: [String]
        @Option(help: "Requests a minute; without it there is no quota.") var quota: Int?

        func run() async throws {
            try await withKeys(options) { store, audit in
                let now = Timestamp.now()
                let made = try await store.create(
                    name: name,
                    scopes: Set(scope.map(Scope.init(rawValue:))),
                    quotaPerMinute: quota,
                    createdBy: NSUserName(),
                    now: now
                )
                try await audit.record(.ofThisUser(.createKey, "\(name) (\(made.key.id))", scope.sorted().joined(separator: ", "), at: now))
                Terminal.printLine(made.text.text)
                Terminal.printError("Keep it now: it is not shown again. Revoke it with `pushwatch api-keys revoke \(made.key.id)`.")
            }
        }
    }

    /// `pushwatch api-keys list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the keys, newest first.")

        @OptionGroup var options: ConfigurationOptions

        func run() async throws {
            try await withKeys(options) { store, _ in
                for key in try await store.list() {
                    let state = key.revokedAt.map { "revoked \($0)" } ?? key.lastUsedAt.map { "last used \($0)" } ?? "never used"
                    Terminal.printLine("\(key.id)  \(key.name)  \(key.scopes.map(\.rawValue).sorted().joined(separator: ","))  \(state)")
                }
            }
        }
    }

    /// `pushwatch api-keys revoke ID`
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Revoke a key. Servers stop accepting it within 30 seconds.")

        @OptionGroup var options: ConfigurationOptions
        @Argument(help: "The key's id, as `pushwatch api-keys list` shows it.") var id: String

        func run() async throws {
            try await withKeys(options) { store, audit in
                let now = Timestamp.now()
                guard try await store.revoke(id: id, now: now) else { throw CommandFailure.check("No active key has the id `\(id)`.") }
                try await audit.record(.ofThisUser(.revokeKey, id, "", at: now))
            }
        }
    }
}

extension AuditEntry {
    /// Done from the command line, by whoever runs it.
    fileprivate static func ofThisUser(_ action: AuditAction, _ subject: String, _ detail: String, at now: Timestamp) -> AuditEntry {
        AuditEntry(at: now, actor: "\(NSUserName()), on the command line", action: action, subject: subject, detail: detail)
    }
}

private func withKeys(_ options: ConfigurationOptions, _ body: (APIKeyStore, AuditLog) async throws -> Void) async throws {
    try await withPool(options) { pool in
        do {
            try await body(APIKeyStore(pool), AuditLog(pool))
        } catch let refusal as APIKeyStore.Refusal {
            throw CommandFailure(message: refusal.description, code: 2)
        }
    }
}
