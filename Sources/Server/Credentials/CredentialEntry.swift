import Foundation
import PushContract
import ServiceKit

/// One credential as it is configured: what it is, which apps it serves, and where it is used.
struct CredentialEntry: Sendable, Hashable {
    /// Names it in logs and reports.
    var name: String
    var kind: Kind
    /// The apps it serves; empty: every app that no other entry of the provider names.
    var apps: Set<String> = []
    /// PEM file of the only authorities to trust; nil: the common setting, or the system's.
    var caFile: String?
    /// Proxy URL; nil: none.
    var proxy: String?
    /// HTTP/2 connections at most.
    var connections = 16

    enum Kind: Sendable, Hashable {
        case apns(APNs)
        case fcm(FCM)
    }

    struct APNs: Sendable, Hashable {
        var teamId: String
        var keyId: String
        var keyFile: String
        /// Base URLs, by environment; an environment that is not named is not served.
        var endpoints: [PushEnvironment: String]
        /// Of channel management; nil: Apple's, or the same as `endpoints` for anybody else.
        var channelEndpoints: [PushEnvironment: String]?
    }

    struct FCM: Sendable, Hashable {
        var serviceAccountFile: String
        var url: String
        /// Nil: the service account's own.
        var projectId: String?
        /// Nil: the one the service account file names.
        var tokenURL: String?
    }

    var provider: Provider {
        switch kind {
        case .apns: .apns
        case .fcm: .fcm
        }
    }

    /// The file with the secret.
    var keyFile: String {
        switch kind {
        case .apns(let apns): apns.keyFile
        case .fcm(let fcm): fcm.serviceAccountFile
        }
    }

    /// Days since the file with the secret was written; nil when it is not there.
    func keyAgeDays(now: Timestamp) -> Int? {
        FileStamp(path: keyFile).map { max(0, Int((Double(now.seconds) - $0.modified.timeIntervalSince1970) / 86_400)) }
    }

    /// Hosts it connects to: APNs of each environment and its channel management; FCM and the token endpoint.
    var endpointCount: Int { 2 * environments.count }

    /// Whether it is for the same pushes.
    func serves(as other: CredentialEntry) -> Bool {
        provider == other.provider && apps == other.apps && environments == other.environments
    }

    private func names(_ app: String) -> Bool { apps.firstIndex(of: app).map { ExactText(apps[$0]) == ExactText(app) } ?? false }

    var environments: [PushEnvironment] {
        switch kind {
        case .apns(let apns): PushEnvironment.allCases.filter { apns.endpoints[$0] != nil }
        case .fcm: [.production]
        }
    }

    /// Where pushes of an environment go; nil where it is not served.
    func endpoint(_ environment: PushEnvironment) -> String? {
        switch kind {
        case .apns(let apns): apns.endpoints[environment]
        case .fcm(let fcm): fcm.url
        }
    }

    /// The best entry for a delivery: one that names the app, else one for all apps. An app that an entry names is not served by another
    /// entry in the environments that this one leaves out.
    static func index(of entries: [CredentialEntry], _ provider: Provider, app: String, _ environment: PushEnvironment) -> Int? {
        let isNamed = entries.contains { $0.provider == provider && $0.names(app) }
        return entries.firstIndex {
            $0.provider == provider && (isNamed ? $0.names(app) : $0.apps.isEmpty) && $0.endpoint(environment) != nil
        }
    }
}
