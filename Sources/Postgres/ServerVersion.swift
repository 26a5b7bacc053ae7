/// The versions of PostgreSQL that Pushwatch runs on.
package enum ServerVersion {
    package static let supported = 15...18

    package enum Verdict: Equatable, Sendable {
        case supported
        /// With the sentence to refuse it with.
        case tooOld(String)
        /// Newer than any that was looked at, with the sentence to say so.
        case newer(String)
    }

    /// - Parameter number: as libpq has it, 150014 for 15.14.
    package static func verdict(on number: Int) -> Verdict {
        let major = number / 10_000
        let range = "\(supported.lowerBound) to \(supported.upperBound)"
        if major < supported.lowerBound {
            return .tooOld("The database is PostgreSQL \(major); Pushwatch needs one of the versions \(range). Upgrade the server.")
        }
        if major > supported.upperBound {
            return .newer("The database is PostgreSQL \(major); Pushwatch is made for the versions \(range). It goes on.")
        }
        return .supported
    }

    package static func verdict(at configuration: PostgresConfiguration) async throws -> Verdict {
        verdict(on: try await PostgresConnection.connect(configuration).serverVersion)
    }
}
