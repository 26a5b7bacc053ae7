import CommandLineKit
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
