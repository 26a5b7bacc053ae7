import ArgumentParser
import Audit
import CommandLineKit
import Delivery
import Foundation
import Logging
import Postgres
import PushContract
import Server

/// `pushwatch token-keys …`
struct TokenKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token-keys",
        abstract: "Create and rotate the keys that encrypt stored push tokens.",
        subcommands: [Create.self, Rotate.self]
    )

    /// `pushwatch token-keys create`
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Print a new key for encrypting push tokens.",
            discussion: """
                A line for the file that PUSHWATCH_TOKEN_KEYS names: `id:base64`. The first key encrypts; every key in the file can decrypt. Keep \
                the file as safe as the database's backups: without it, stored tokens cannot be used and every app must register again.
                """
        )

        @Option(help: "The key's name, stored with what it encrypts: 1 to 32 of a-z, 0-9, - and _.") var id: String?

        func validate() throws {
            if let id, !TokenKeySet.isId(id) { throw ValidationError("--id is 1 to 32 of a-z, 0-9, - and _.") }
        }

        func run() async throws {
            let day = Timestamp.now().rfc3339.prefix(10).replacing("-", with: "")
            Terminal.printLine(TokenKeySet.line(id: id ?? "k\(day)"))
        }
    }

    /// `pushwatch token-keys rotate`
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract: "Encrypt every stored push token with the current key.",
            discussion: """
                To replace the key:
                  1. add the new key as the last line of the file on every instance and restart them: every instance can decrypt with it;
                  2. make it the first line and restart them again: it encrypts what is stored from now on;
                  3. run this command: it encrypts again what older keys encrypted;
                  4. remove the older keys from the file.
                It is refused (exit code 1) while an instance runs that does not encrypt with the current key. It works in small \
                transactions next to live traffic. It may be interrupted with Ctrl-C and run again, and continues.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: "Who rotates them.") var author: String = NSUserName()
        @Flag(help: "Print JSON.") var json = false

        func run() async throws {
            try await options.withPool(logLevel: .warning) { pool, configuration in
                guard let keySet = configuration.tokenKeys else {
                    throw CommandFailure.usage("PUSHWATCH_TOKEN_KEYS is not set: there is no key to encrypt with.")
                }
                let report = try await rotate(pool, keySet)
                if json {
                    try Terminal.printLine(json: report)
                } else {
                    Terminal.printLine("\(report.reencrypted) tokens were encrypted with the key \(keySet.current.id).")
                }
                guard report.unreadable == 0 else {
                    throw CommandFailure.check(
                        "\(report.unreadable) tokens cannot be decrypted: their key is not in the file, or they were changed. Add the key and run this "
                            + "again; without it their apps must register again."
                    )
                }
            }
        }

        private func rotate(_ pool: PostgresPool, _ keySet: TokenKeySet) async throws -> TokenReencrypter.Report {
            // Before the key is noted, without which an instance that lacks it could not start again.
            try await requireCurrentKey(keySet, pool)
            do {
                try await TokenKeyStore(pool).admit(keySet, now: .now())
            } catch let mismatch as TokenKeyStore.Mismatch {
                throw CommandFailure.check("PUSHWATCH_TOKEN_KEYS: \(mismatch).")
            }
            let report = try await TokenReencrypter(pool: pool, keySet: keySet).run { progress in
                Terminal.progress(
                    "\(progress.column)  \(progress.pagesDone)/\(progress.pages) pages, \(progress.reencrypted) tokens encrypted"
                )
            }
            if Terminal.isInteractive { Terminal.progress("") }
            // Tokens may have been stored with an older key by an instance that was started meanwhile.
            if report.unreadable == 0 { try await requireCurrentKey(keySet, pool) }
            // With the end of the older keys: a rotation that is interrupted has replaced no key, and is run again.
            try await pool.withTransaction { transaction in
                if report.unreadable == 0 { try await TokenKeyStore.deleteKeysExcept(keySet.current.id, on: transaction) }
                try await AuditRecorder(by: author).note(.rotateTokenKeys, keySet.current.id, after: report, on: transaction)
            }
            return report
        }

        /// Else an instance would go on storing tokens with a key that the others may then be without, or could not read theirs.
        private func requireCurrentKey(_ keySet: TokenKeySet, _ pool: PostgresPool) async throws {
            let faults = try await InstanceStore(pool: pool).running().compactMap { $0.rotationFault(keySet.current.id) }
            guard faults.isEmpty else {
                throw CommandFailure.check(
                    "The key \(keySet.current.id) is not the current one of every running instance: \(faults.joined(separator: "; ")). "
                        + "Make it the first line of their PUSHWATCH_TOKEN_KEYS, restart them, and run this again."
                )
            }
        }
    }
}
