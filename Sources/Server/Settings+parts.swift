import Access
import Attempts
import Delivery
import Foundation
import HTTPServer
import HTTPTypes
import ServiceKit

/// Settings that make sense together only.
extension Settings {
    func proxySignIn() throws(ConfigurationError) -> ProxySignIn? {
        let (header, addresses) = (text(.proxyHeader), try list(.proxyAddresses))
        guard header != nil || !addresses.isEmpty else { return nil }
        guard let name = HTTPField.Name(header ?? "x") else {
            throw ConfigurationError("`\(ConfigurationKey.proxyHeader.name)`: `\(header ?? "")` is not the name of an HTTP header.")
        }
        guard header != nil, !addresses.isEmpty else {
            throw ConfigurationError(
                "`\(ConfigurationKey.proxyHeader.name)` and `\(ConfigurationKey.proxyAddresses.name)` belong together: a header's name, and the "
                    + "addresses it is trusted from."
            )
        }
        var proxies: [AddressRange] = []
        for text in addresses {
            guard let range = AddressRange(text) else {
                throw ConfigurationError(
                    "`\(ConfigurationKey.proxyAddresses.name)`: `\(text)` is neither an address nor a network such as 10.0.0.0/8."
                )
            }
            proxies.append(range)
        }
        var scopes: Set<Scope> = []
        for text in try list(.proxyScopes) {
            guard Scope(rawValue: text).isKnown else {
                let known = Scope.allScopes.map(\.rawValue).joined(separator: ", ")
                throw ConfigurationError("`\(ConfigurationKey.proxyScopes.name)`: there is no scope `\(text)`; expected one of \(known).")
            }
            scopes.insert(Scope(rawValue: text))
        }
        return ProxySignIn(header: name, from: proxies, scopes: scopes.isEmpty ? [.alertsRead, .alertsWrite] : scopes)
    }

    func partitionPlan() throws(ConfigurationError) -> PartitionPlan {
        var plan = PartitionPlan()
        if let days = try number(.attemptsRetention, 16...1_100) { plan.factRetentionDays = Int64(days) }
        if let days = try number(.rollupsRetention, 60...7_300) { plan.rollupRetentionDays = Int64(days) }
        guard plan.rollupRetentionDays >= plan.factRetentionDays else {
            throw ConfigurationError(
                "`\(ConfigurationKey.rollupsRetention.name)` (\(plan.rollupRetentionDays)) must be no less than "
                    + "`\(ConfigurationKey.attemptsRetention.name)` (\(plan.factRetentionDays)): attempts are kept no longer than their counts."
            )
        }
        return plan
    }

    func ledgerFilters(cacheDirectory: String?) throws -> LedgerFilterLimits {
        var limits = LedgerFilterLimits()
        limits.directory = text(.ledgerCacheDirectory) ?? cacheDirectory
        if let size = try number(.ledgerFilterMemory, 1...1_048_576) { limits.mostBytes = size << 20 }
        return limits
    }

    func labelLimits() throws(ConfigurationError) -> LabelLimiter.Limits {
        var limits = LabelLimiter.Limits()
        if let apps = try number(.labelApps, 1...100_000) { limits.apps = apps }
        if let versions = try number(.labelAppVersions, 1...100_000) { limits.appVersions = versions }
        if let codes = try number(.labelProviderCodes, 1...100_000) { limits.providerCodes = codes }
        if let types = try number(.labelPushTypes, 1...100_000) { limits.pushTypes = types }
        return limits
    }

    func sessionLimits() throws(ConfigurationError) -> SessionLimits {
        var limits = SessionLimits()
        limits.lifetime = try number(.signInLifetime, 1...720).map { .seconds($0 * 3_600) } ?? limits.lifetime
        limits.idle = try number(.signInIdle, 1...43_200).map { .seconds($0 * 60) } ?? limits.idle
        return limits
    }

    func tokenKeys() throws(ConfigurationError) -> TokenKeySet? {
        guard let path = text(.tokenKeys) else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else {
            let (name, cause) = (ConfigurationKey.tokenKeys.environmentName, FileFault.cause(path))
            throw ConfigurationError("\(name): the file \(path) cannot be read: \(cause).", isUnreadableFile: true)
        }
        do {
            return try TokenKeySet(parsing: String(decoding: data, as: UTF8.self))
        } catch {
            throw ConfigurationError("\(ConfigurationKey.tokenKeys.environmentName): in \(path), \(error)")
        }
    }

    func tls() throws(ConfigurationError) -> ServerConfiguration.TLS? {
        switch (text(.httpCertificate), text(.httpCertificateKey)) {
        case (nil, nil): return nil
        case (let certificate?, let key?): return .init(certificateFile: certificate, keyFile: key)
        case (nil, _):
            throw ConfigurationError("TLS is configured in part: \(ConfigurationKey.httpCertificate.environmentName) is missing.")
        case (_, nil):
            throw ConfigurationError("TLS is configured in part: \(ConfigurationKey.httpCertificateKey.environmentName) is missing.")
        }
    }

    func apns() throws(ConfigurationError) -> ServerConfiguration.APNs? {
        let parts = [ConfigurationKey.apnsTeam, .apnsKeyId, .apnsKeyFile]
        let values = parts.map(text)
        if values.allSatisfy({ $0 == nil }) { return nil }
        for (key, value) in zip(parts, values) where value == nil {
            throw ConfigurationError("APNs is configured in part: \(key.environmentName) (\(key.meaning)) is missing.")
        }
        return .init(
            teamId: values[0]!,
            keyId: values[1]!,
            keyFile: values[2]!,
            productionURL: try endpoint(.apnsProduction),
            sandboxURL: try endpoint(.apnsSandbox),
            app: text(.apnsApp)
        )
    }

    func fcm() throws(ConfigurationError) -> ServerConfiguration.FCM? {
        guard let file = text(.fcmAccountFile) else { return nil }
        return .init(serviceAccountFile: file, url: try endpoint(.fcmURL))
    }

    func users() throws(ConfigurationError) -> ServerConfiguration.Users? {
        let parts = [ConfigurationKey.usersIssuer, .usersAudience]
        guard let jwks = text(.usersJWKS) else {
            guard let given = parts.first(where: { text($0) != nil }) else { return nil }
            throw ConfigurationError(
                "\(given.environmentName) needs \(ConfigurationKey.usersJWKS.environmentName) too: without keys every app user is refused."
            )
        }
        guard let issuer = text(.usersIssuer) else {
            throw ConfigurationError(
                "\(ConfigurationKey.usersJWKS.environmentName) needs \(ConfigurationKey.usersIssuer.environmentName) too."
            )
        }
        // Keys that anybody on the way could replace would let anybody in.
        guard !jwks.contains("://") || jwks.isHTTPAddress && jwks.hasPrefix("https://") else {
            throw ConfigurationError(
                "\(ConfigurationKey.usersJWKS.environmentName) (`\(ConfigurationKey.usersJWKS.name)`) must be the path of a file, or a URL that "
                    + "begins with https:// and a host."
            )
        }
        return .init(issuer: issuer, audience: text(.usersAudience), jwks: jwks)
    }
}
