import Foundation
import ProviderSimulator

/// The simulator's credentials as the files that Pushwatch reads, readable by their owner only.
struct SimulatorFiles {
    let teamId: String
    let keyId: String
    let apnsKey: String
    let serviceAccount: String

    init(_ credentials: SimulatorCredentials, endpoints: SimulatorEndpoints, directory: String) throws {
        teamId = credentials.apns.teamId
        keyId = credentials.apns.keyId
        apnsKey = directory + "/AuthKey_\(credentials.apns.keyId).p8"
        serviceAccount = directory + "/service-account.json"
        try PrivateFile.write(credentials.apns.privateKeyPEM, to: apnsKey)
        try PrivateFile.write(credentials.google.keyFile(tokenURL: endpoints.oauthTokenURL), to: serviceAccount)
    }
}

/// Files that only their owner may read.
enum PrivateFile {
    static func write(_ text: String, to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]) else {
            throw CommandFailure.environment("\(path) cannot be written.")
        }
    }
}
