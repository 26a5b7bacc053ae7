import Logging
import Postgres

/// What must be so of the database's addresses before anything is done there: the server's version, and that sessions are our own where
/// statements are prepared.
struct DatabaseCheck: Sendable {
    let configuration: ServerConfiguration
    let logger: Logger

    func run() async throws {
        var addresses = [("database.url", configuration.databaseURL)]
        if configuration.adminDatabaseURL != configuration.databaseURL {
            addresses.append(("admin.database.url", configuration.adminDatabaseURL))
        }
        for (name, url) in addresses { try await check(name, configuration.postgres(url, applicationName: "pushwatch start")) }
    }

    private func check(_ name: String, _ address: PostgresConfiguration) async throws {
        if address.preparesStatements {
            switch try await SessionProbe.look(at: address) {
            case .own: break
            case .shared:
                throw ConfigurationError(
                    "`\(name)` leads to a connection pooler that shares sessions among clients: set `database.preparesStatements: false`."
                )
            case .settingsRefused:
                throw ConfigurationError(
                    "`\(name)` leads to a connection pooler that does not pass on session settings: set `database.preparesStatements: false`."
                )
            }
        }
        switch try await ServerVersion.verdict(at: address) {
        case .supported: break
        case .tooOld(let sentence): throw ConfigurationError(sentence)
        case .newer(let sentence): logger.warning("newer version of the server", metadata: ["detail": "\(sentence)"])
        }
    }
}
