import Foundation

/// The sender's credentials that the simulator trusts: hand them to whatever sends.
package struct SimulatorCredentials: Sendable, Hashable, Codable {
    package var apns: APNsSigningKey
    package var google: GoogleServiceAccount

    /// New keys. The RSA key takes some tenths of a second.
    package static func generate() throws -> SimulatorCredentials {
        SimulatorCredentials(apns: .generate(), google: try .generate())
    }

    /// The credentials kept in a directory, made there at the first call, so that a sender configured once goes on working
    /// when the simulator starts again.
    /// - Throws: when the directory cannot be written, or the file in it is not one of ours.
    package static func kept(in directory: String) throws -> SimulatorCredentials {
        let file = URL(filePath: directory).appending(path: "simulator-credentials.json")
        if let data = try? Data(contentsOf: file) {
            return try JSONDecoder().decode(SimulatorCredentials.self, from: data)
        }
        let credentials = try generate()
        try WholeFile.write(
            String(decoding: encodedJSON(credentials), as: UTF8.self),
            to: file.path(percentEncoded: false),
            permissions: 0o600
        )
        return credentials
    }
}
