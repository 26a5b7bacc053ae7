import ArgumentParser
import Delivery
import Foundation
import PushContract

/// `pushwatch token-keys create`
struct TokenKeysCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Print a new key for encrypting push tokens.",
        discussion: """
            A line for the file that PUSHWATCH_TOKEN_KEYS names: `id:base64`. The first key of the file seals, all of them open. Keep the \
            file as safe as the database's backups: without it no stored token can be sent to, and every app has to register anew.
            """
    )

    @Option(help: "The key's name, stored beside what it seals: 1 to 32 of a-z, 0-9, - and _.") var id: String?

    func validate() throws {
        if let id, !TokenKeySet.isId(id) { throw ValidationError("--id is 1 to 32 of a-z, 0-9, - and _.") }
    }

    func run() async throws {
        let day = Timestamp.now().rfc3339.prefix(10).replacing("-", with: "")
        Terminal.printLine(TokenKeySet.line(id: id ?? "k\(day)"))
    }
}
