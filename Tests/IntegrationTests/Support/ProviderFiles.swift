import Foundation
import ProviderSimulator

/// The simulator's credentials as the files that the server reads, and the settings that lead to them and to the simulator.
struct ProviderFiles {
    let apnsKey: String
    let serviceAccount: String
    /// Settings for APNs alone, and for FCM alone.
    let apns: [String: String]
    let fcm: [String: String]

    init(_ simulator: ProviderSimulator, _ endpoints: SimulatorEndpoints, directory: String) throws {
        apnsKey = directory + "/key.p8"
        serviceAccount = directory + "/service-account.json"
        try simulator.credentials.apns.privateKeyPEM.write(toFile: apnsKey, atomically: true, encoding: .utf8)
        try simulator.credentials.google.keyFile(tokenURL: endpoints.oauthTokenURL)
            .write(toFile: serviceAccount, atomically: true, encoding: .utf8)
        apns = [
            "APNS_TEAM_ID": simulator.credentials.apns.teamId, "APNS_KEY_ID": simulator.credentials.apns.keyId,
            "APNS_KEY_FILE": apnsKey, "APNS_PRODUCTION_URL": endpoints.apnsURL, "APNS_SANDBOX_URL": endpoints.apnsURL,
            "PROVIDERS_CA_FILE": endpoints.caFile,
        ]
        fcm = ["FCM_SERVICE_ACCOUNT_FILE": serviceAccount, "FCM_URL": endpoints.fcmURL, "PROVIDERS_CA_FILE": endpoints.caFile]
    }
}
