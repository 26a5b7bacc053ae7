import ArgumentParser
import Delivery
import Foundation
import Logging
import HTTPServer
import Postgres
import PushContract
import Server

/// `pushwatch token-keys rotate`
struct TokenKeysRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Seal all stored push tokens with the current key.",
        discussion: """
            To change the key:
              1. add the new key as the last line of the file, on every instance, and restart them: now all can open what it seals;
              2. make it the first line, and restart them again: now it seals what is stored from here on;
              3. run this command: it seals anew what older keys have sealed;
              4. remove the older keys from the file.
            Small transactions beside live traffic. It may be broken off with Ctrl-C and run again; what is done is skipped.
            """
    )

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Print the result as one JSON object.") var json = false

    func run() async throws {
        LogBootstrap.bootstrap(level: .warning)
        let configuration = try await options.load()
        guard let keySet = configuration.tokenKeys else {
            throw CommandFailure(message: "PUSHWATCH_TOKEN_KEYS is not set: there is no key to seal with.", code: 2)
        }
        try await withPool(options) { pool in
            let report = try await rotate(pool, keySet)
            if json {
                Terminal.printLine(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
            } else {
                Terminal.printLine("\(report.reencrypted) tokens were sealed anew with the key \(keySet.current.id).")
            }
            guard report.unreadable == 0 else {
                throw CommandFailure.check(
                    "\(report.unreadable) tokens cannot be opened: their key is not in the file, or they were changed. Add the key and run this "
                        + "again; without it their apps have to register anew."
                )
            }
        }
    }

    private func rotate(_ pool: PostgresPool, _ keySet: TokenKeySet) async throws -> TokenReencrypter.Report {
        do {
            try await TokenKeyStore(pool).admit(keySet, now: .now())
        } catch let mismatch as TokenKeyStore.Mismatch {
            throw CommandFailure.check("PUSHWATCH_TOKEN_KEYS: \(mismatch).")
        }
        let report = try await TokenReencrypter(pool: pool, keySet: keySet).run { progress in
            Terminal.progress("\(progress.column)  \(progress.pagesDone)/\(progress.pages) pages, \(progress.reencrypted) tokens sealed anew")
        }
        if Terminal.isInteractive { Terminal.progress("") }
        if report.unreadable == 0 { try await TokenKeyStore(pool).deleteKeysExcept(keySet.current.id) }
        return report
    }
}
