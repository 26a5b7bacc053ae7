import Access
import AlertRules
import Foundation
import HTTPClient
import ServiceKit

extension ServerConfiguration {
    /// Throws for a directory or file that an instance with these roles reads later and that is not there: it would run without rules,
    /// types or users, and nothing would show it.
    func checkFiles() throws(ConfigurationError) {
        try require(isDirectory(migrationsDirectory), .migrationsDirectory, migrationsDirectory, "is not a directory that can be read")
        if roles.contains(.alert) {
            try require(
                AlertsDirectory(path: alertsDirectory).hasRuleFiles,
                .alertsDirectory,
                alertsDirectory,
                "has no rule file (rules/*.yml), so nothing would alert",
                "An instance that evaluates no alerts names its roles: --role api,send,live."
            )
        }
        // Without one of its own there are no types, also where the program's is not found.
        if liveDirectory != ConfigurationKey.liveDirectory.standard {
            try require(isDirectory(liveDirectory), .liveDirectory, liveDirectory, "is not a directory that can be read")
        }
        if let path = providersCAFile {
            try require(isFile(path), .providersCA, path, "cannot be read: \(FileFault.cause(path))")
            try require(TrustedAuthorities.canBeRead(from: path), .providersCA, path, "has no certificate in PEM form")
        }
        if let users, !users.jwks.contains("://") {
            try require(isFile(users.jwks), .usersJWKS, users.jwks, "cannot be read: \(FileFault.cause(users.jwks))")
        }
    }

    /// With the role `api`, throws for a file of keys by which no app user's token can be verified.
    func checkUserKeys() async throws(ConfigurationError) {
        guard roles.contains(.api), let users, !users.jwks.contains("://") else { return }
        guard let fault = await JWKSFile.fault(path: users.jwks) else { return }
        try require(false, .usersJWKS, users.jwks, "cannot be used: \(fault)")
    }

    private func require(
        _ isFound: Bool,
        _ key: ConfigurationKey,
        _ path: String,
        _ fault: String,
        _ advice: String = ""
    ) throws(ConfigurationError) {
        guard !isFound else { return }
        throw ConfigurationError("\(key.environmentName) (`\(key.name)`): \(path) \(fault). \(advice)".trimmingCharacters(in: .whitespaces))
    }

    private func isFile(_ path: String) -> Bool { FileManager.default.isReadableFile(atPath: path) }

    private func isDirectory(_ path: String) -> Bool { (try? FileManager.default.contentsOfDirectory(atPath: path)) != nil }
}
