import Foundation

/// The keys of an issuer from a file, as `UserTokenVerifier.Loader`.
package enum JWKSFile {
    /// Reads the file at each load, so that a changed file takes effect without a restart.
    package static func loader(path: String) -> UserTokenVerifier.Loader {
        { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
    }

    /// Why the keys of the file cannot be used; nil when they can.
    package static func fault(path: String) async -> String? {
        do {
            _ = try await IssuerKeys(jwks: loader(path: path)())
            return nil
        } catch {
            return "\(error)"
        }
    }
}
