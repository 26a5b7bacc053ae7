import Foundation
import HTTPClient
import PushContract

/// The YAML file with many credentials: any number of Apple teams and keys, and of Firebase projects. Relative paths are taken from the
/// file's own directory.
///
/// ```yaml
/// apns:
///   - teamId: ABCDE12345
///     keyId: KEY1234567
///     keyFile: AuthKey_KEY1234567.p8
///     apps: [com.example.scores]     # default: every app no other entry names
///     production: https://…          # default: Apple's; "none" for a key of the sandbox alone
///     sandbox: none
///     channelsProduction: https://…  # likewise channelsSandbox
///     caFile: lookalike-ca.pem       # likewise proxy
/// fcm:
///   - serviceAccountFile: scores.json
///     apps: [com.example.scores]
///     projectId: scores-1234
///     url: https://fcm.googleapis.com
///     tokenURL: https://oauth2.googleapis.com/token
/// ```
enum CredentialFile {
    static func entries(of path: String) throws(ConfigurationError) -> [CredentialEntry] {
        try entries(SettingsFile(path, of: .credentialsFile), directory: URL(filePath: path).deletingLastPathComponent())
    }

    static func entries(_ file: SettingsFile, directory: URL) throws(ConfigurationError) -> [CredentialEntry] {
        let name = file.name
        guard let members = file.root as? [String: Any] else { throw ConfigurationError("\(name) must have \"apns\" and \"fcm\" lists.") }
        if let unknown = members.keys.first(where: { !["apns", "fcm"].contains($0) }) {
            throw ConfigurationError("\(name): \"\(unknown)\" is not known; the lists are \"apns\" and \"fcm\".")
        }
        var entries: [CredentialEntry] = []
        for list in ["apns", "fcm"] {
            guard let items = members[list] else { continue }
            guard let items = items as? [[String: Any]] else {
                throw ConfigurationError("\(name): \"\(list)\" must be a list of mappings.")
            }
            for (index, item) in items.enumerated() {
                let reader = CredentialReader(item: item, location: "\(name): \(list)[\(index)]", directory: directory)
                entries.append(try list == "apns" ? reader.apns() : reader.fcm())
            }
        }
        return entries
    }
}

/// Reads one entry strictly.
private struct CredentialReader {
    let item: [String: Any]
    let location: String
    let directory: URL

    func apns() throws(ConfigurationError) -> CredentialEntry {
        try allow(["teamId", "keyId", "keyFile", "production", "sandbox", "channelsProduction", "channelsSandbox"])
        let (team, key) = (try required("teamId"), try required("keyId"))
        var endpoints: [PushEnvironment: String] = [:]
        endpoints[.production] = try endpoint("production", ConfigurationKey.apnsProduction.standard)
        endpoints[.sandbox] = try endpoint("sandbox", ConfigurationKey.apnsSandbox.standard)
        guard !endpoints.isEmpty else { throw ConfigurationError("\(location): production and sandbox cannot both be none.") }
        var channels: [PushEnvironment: String] = [:]
        channels[.production] = try endpoint("channelsProduction", nil)
        channels[.sandbox] = try endpoint("channelsSandbox", nil)
        let apns = CredentialEntry.APNs(
            teamId: team,
            keyId: key,
            keyFile: try path("keyFile"),
            endpoints: endpoints,
            channelEndpoints: channels.isEmpty ? nil : endpoints.merging(channels) { $1 }
        )
        return try entry("APNs \(team)/\(key)", .apns(apns))
    }

    func fcm() throws(ConfigurationError) -> CredentialEntry {
        try allow(["serviceAccountFile", "projectId", "url", "tokenURL"])
        let file = try path("serviceAccountFile")
        let fcm = CredentialEntry.FCM(
            serviceAccountFile: file,
            url: try endpoint("url", ConfigurationKey.fcmURL.standard) ?? ConfigurationKey.fcmURL.standard,
            projectId: try text("projectId"),
            tokenURL: try endpoint("tokenURL", nil)
        )
        return try entry("FCM \(fcm.projectId ?? URL(filePath: file).lastPathComponent)", .fcm(fcm))
    }

    private func entry(_ name: String, _ kind: CredentialEntry.Kind) throws(ConfigurationError) -> CredentialEntry {
        var apps: Set<String> = []
        if let list = item["apps"] {
            guard let names = list as? [String] else {
                throw ConfigurationError("\(location).apps must be a list of bundle ids or FCM apps.")
            }
            apps = Set(names)
        }
        let caFile = try item["caFile"] == nil ? nil : path("caFile")
        let proxy = try text("proxy")
        if let proxy, !HTTP2ClientConfiguration.isProxy(proxy) {
            throw ConfigurationError("\(location).proxy must be http://[user:password@]host[:port]: a proxy that opens tunnels by CONNECT.")
        }
        return CredentialEntry(name: name, kind: kind, apps: apps, caFile: caFile, proxy: proxy)
    }

    private func allow(_ names: [String]) throws(ConfigurationError) {
        let known = names + ["apps", "caFile", "proxy"]
        guard let unknown = item.keys.filter({ !known.contains($0) }).min() else { return }
        throw ConfigurationError("\(location).\(unknown) is not known; known are \(known.joined(separator: ", ")).")
    }

    private func text(_ name: String) throws(ConfigurationError) -> String? {
        guard let value = item[name] else { return nil }
        guard let text = value as? String, !text.isEmpty else {
            throw ConfigurationError("\(location).\(name) must be a text; put it in quotes.")
        }
        return text
    }

    private func required(_ name: String) throws(ConfigurationError) -> String {
        guard let text = try text(name) else { throw ConfigurationError("\(location).\(name) is missing.") }
        return text
    }

    private func path(_ name: String) throws(ConfigurationError) -> String {
        let text = try required(name)
        return text.hasPrefix("/") ? text : directory.appending(path: text).path(percentEncoded: false)
    }

    private func endpoint(_ name: String, _ standard: String?) throws(ConfigurationError) -> String? {
        guard let text = try text(name) else { return standard }
        if text == "none" { return nil }
        guard text.isHTTPAddress, text.hasPrefix("https://") else {
            throw ConfigurationError("\(location).\(name) must begin with https:// and a host, or be none.")
        }
        return text.withoutLastSlash
    }
}
