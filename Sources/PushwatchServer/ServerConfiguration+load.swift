package import Configuration
import Devices
import Foundation
import HTTPEdge
import HTTPTypes
import LiveActivities
import Logging
import SystemPackage
import Yams

extension ServerConfiguration {
    /// Reads `PUSHWATCH_…` over the YAML file over the defaults. Unknown keys in either are errors.
    package static func load(
        file: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> ServerConfiguration {
        try checkEnvironment(environment)
        var providers: [any ConfigProvider] = [
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "pushwatch")
        ]
        if let file {
            try checkFile(file)
            providers.append(try await FileProvider<YAMLSnapshot>(filePath: FilePath(file)))
        }
        return try ServerConfiguration(Settings(reader: ConfigReader(providers: providers)))
    }

    private static func checkEnvironment(_ environment: [String: String]) throws(ConfigurationError) {
        let known = Set(ConfigurationKey.all.flatMap(\.acceptedNames).map(ConfigurationKey.environmentName(of:)))
        for name in environment.keys.sorted() where name.hasPrefix("PUSHWATCH_") && !known.contains(name) {
            throw ConfigurationError("\(name) is not a setting of Pushwatch. `pushwatch serve --help` lists them.")
        }
    }

    private static func checkFile(_ path: String) throws {
        guard let text = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("The configuration file \(path) cannot be read.")
        }
        let root: Any?
        do {
            root = try Yams.load(yaml: String(decoding: text, as: UTF8.self))
        } catch {
            throw ConfigurationError("\(path) is not valid YAML: \(error)")
        }
        let known = Set(ConfigurationKey.all.flatMap(\.acceptedNames))
        for name in leaves(of: root, under: "").sorted() where !known.contains(name) {
            throw ConfigurationError("\(path): `\(name)` is not a setting of Pushwatch. `pushwatch serve --help` lists them.")
        }
    }

    private static func leaves(of value: Any?, under prefix: String) -> [String] {
        guard let mapping = value as? [String: Any] else { return prefix.isEmpty ? [] : [prefix] }
        return mapping.flatMap { leaves(of: $0.value, under: prefix.isEmpty ? $0.key : "\(prefix).\($0.key)") }
    }

    private init(_ settings: Settings) throws {
        guard let url = try settings.secret(.databaseURL) else {
            throw ConfigurationError(
                "No database is configured. Set \(ConfigurationKey.databaseURL.environmentName), or use `pushwatch up` for one that "
                    + "Pushwatch starts itself."
            )
        }
        self.init(databaseURL: url)
        databaseConnections = try settings.number(.databaseConnections, 2...500) ?? databaseConnections
        adminDatabaseURL = try settings.secret(.adminDatabaseURL) ?? url
        migrationsDirectory = settings.text(.migrationsDirectory) ?? migrationsDirectory
        httpHost = settings.text(.httpHost) ?? httpHost
        httpPort = try settings.number(.httpPort, 0...65_535) ?? httpPort
        httpConnections = try settings.number(.httpConnections, 1...1_000_000) ?? httpConnections
        httpConnectionsPerAddress = try settings.number(.httpConnectionsPerAddress, 0...1_000_000) ?? httpConnectionsPerAddress
        httpIdleTimeout = try settings.number(.httpIdleTimeout, 1...86_400).map { .seconds($0) } ?? httpIdleTimeout
        httpHeaderTimeout = try settings.number(.httpHeaderTimeout, 1...3600).map { .seconds($0) } ?? httpHeaderTimeout
        tls = try settings.tls()
        operatorsHost = settings.text(.operatorsHost) ?? httpHost
        operatorsPort = try settings.number(.operatorsPort, 0...65_535)
        publicURL = settings.text(.publicURL)
        bootstrapKey = try settings.secret(.bootstrapKey, atLeast: 24)
        proxySignIn = try settings.proxySignIn()
        tokenKeys = try settings.tokenKeys()
        logLevel = try settings.choice(.logLevel) { Logger.Level(rawValue: $0) } ?? logLevel
        logFormat = try settings.choice(.logFormat) { ["text", "json", "auto"].contains($0) ? $0 : nil } ?? logFormat
        metricsOpen = try settings.choice(.metricsOpen) { Bool($0) } ?? metricsOpen
        alertsDirectory = settings.text(.alertsDirectory) ?? alertsDirectory
        alertsLag = try settings.number(.alertsLag, 0...600).map { .seconds($0) } ?? alertsLag
        webhookURL = settings.text(.webhookURL)
        webhookSecret = try settings.secret(.webhookSecret)
        alertsHeartbeatURL = try settings.url(.alertsHeartbeatURL)
        apns = try settings.apns()
        fcm = settings.fcm()
        credentialsFile = settings.text(.credentialsFile)
        providersCAFile = settings.text(.providersCA)
        providersConnections = try settings.number(.providersConnections, 1...64) ?? providersConnections
        sendRetryBase = try settings.number(.sendRetryBase, 1...3600).map { .seconds($0) }
        matchFeedURLs = try settings.urls(.matchFeedURLs)
        if let percent = try settings.number(.tokenBreakerPercent, 1...100) { tokenBreaker.ambiguousShare = Double(percent) / 100 }
        if let percent = try settings.number(.tokenBreakerRefusedPercent, 1...100) { tokenBreaker.refusedShare = Double(percent) / 100 }
        if let count = try settings.number(.tokenBreakerCount, 1...1_000_000) { tokenBreaker.count = Int64(count) }
        users = try settings.users()
        liveDirectory = settings.text(.liveDirectory) ?? liveDirectory
        liveStartsPerSecond = try settings.number(.liveStarts, 1...100_000) ?? liveStartsPerSecond
        liveStartsPerHour = try settings.number(.liveStartsPerHour, 1...10_000) ?? liveStartsPerHour
        liveStartsPerDay = try settings.number(.liveStartsPerDay, 1...100_000) ?? liveStartsPerDay
        // YAML takes `off` for a truth value.
        liveChannels = try settings.choice(.liveChannels) { $0 == "false" ? .off : ChannelMode(rawValue: $0) } ?? liveChannels
    }
}

/// Typed reading of single settings.
private struct Settings {
    let reader: ConfigReader

    func text(_ key: ConfigurationKey) -> String? {
        reader.string(forKey: ConfigKey(key.name), isSecret: key.isSecret).flatMap { $0.isEmpty ? nil : $0 }
    }

    func number(_ key: ConfigurationKey, _ range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
        // YAML has the number as a number, the environment as text.
        guard let text = text(key) ?? reader.int(forKey: ConfigKey(key.name)).map(String.init) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw ConfigurationError(
                "\(key.environmentName) (`\(key.name)`) must be a whole number from \(range.lowerBound) to \(range.upperBound)."
            )
        }
        return number
    }

    func choice<Value>(_ key: ConfigurationKey, _ parse: (String) -> Value?) throws(ConfigurationError) -> Value? {
        guard let text = text(key) ?? reader.bool(forKey: ConfigKey(key.name)).map(String.init) else { return nil }
        guard let value = parse(text) else {
            throw ConfigurationError("\(key.environmentName) (`\(key.name)`) cannot be `\(text)`: \(key.meaning).")
        }
        return value
    }

    func list(_ key: ConfigurationKey) -> [String] {
        (text(key) ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    func proxySignIn() throws(ConfigurationError) -> ProxySignIn? {
        let (header, addresses) = (text(.proxyHeader), list(.proxyAddresses))
        guard header != nil || !addresses.isEmpty else { return nil }
        guard let header, let name = HTTPField.Name(header), !addresses.isEmpty else {
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
        for text in list(.proxyScopes) {
            guard Scope(rawValue: text).isKnown else {
                throw ConfigurationError("`\(ConfigurationKey.proxyScopes.name)`: there is no scope `\(text)`.")
            }
            scopes.insert(Scope(rawValue: text))
        }
        return ProxySignIn(header: name, from: proxies, scopes: scopes.isEmpty ? [.alertsRead, .alertsWrite] : scopes)
    }

    /// The value may be a secret, so the error does not show it.
    func url(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        guard let url = try key.isSecret ? secret(key) : text(key) else { return nil }
        guard url.hasPrefix("https://") || url.hasPrefix("http://") else {
            throw ConfigurationError("\(key.environmentName) (`\(key.name)`) must begin with https:// or http://.")
        }
        return url
    }

    /// From its own setting, or from the file that `…File` names, whose last line end does not count.
    /// Several, separated by commas.
    func urls(_ key: ConfigurationKey) throws(ConfigurationError) -> [String] {
        let urls = (text(key) ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        guard urls.allSatisfy({ $0.hasPrefix("https://") || $0.hasPrefix("http://") }) else {
            throw ConfigurationError("\(key.environmentName) (`\(key.name)`): each URL must begin with https:// or http://.")
        }
        return urls
    }

    func secret(_ key: ConfigurationKey, atLeast length: Int = 1) throws(ConfigurationError) -> String? {
        var secret = text(key)
        if secret == nil { secret = try secretFromFile(key) }
        guard let secret else { return nil }
        guard secret.utf8.count >= length else {
            throw ConfigurationError("\(key.environmentName) must have at least \(length) characters.")
        }
        return secret
    }

    func tokenKeys() throws(ConfigurationError) -> TokenKeyRing? {
        guard let path = text(.tokenKeys) else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("\(ConfigurationKey.tokenKeys.environmentName): the file \(path) cannot be read.")
        }
        do {
            return try TokenKeyRing(parsing: String(decoding: data, as: UTF8.self))
        } catch {
            throw ConfigurationError("\(ConfigurationKey.tokenKeys.environmentName): in \(path), \(error)")
        }
    }

    private func secretFromFile(_ key: ConfigurationKey) throws(ConfigurationError) -> String? {
        guard let name = key.fileName, let path = reader.string(forKey: ConfigKey(name)), !path.isEmpty else { return nil }
        guard let bytes = FileManager.default.contents(atPath: path), let text = String(bytes: bytes, encoding: .utf8) else {
            throw ConfigurationError("\(ConfigurationKey.environmentName(of: name)) names \(path), which cannot be read.")
        }
        return String(text.reversed().drop(while: \.isNewline).reversed())
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
            productionURL: text(.apnsProduction) ?? ConfigurationKey.apnsProduction.standard,
            sandboxURL: text(.apnsSandbox) ?? ConfigurationKey.apnsSandbox.standard
        )
    }

    func fcm() -> ServerConfiguration.FCM? {
        text(.fcmAccountFile).map { .init(serviceAccountFile: $0, url: text(.fcmURL) ?? ConfigurationKey.fcmURL.standard) }
    }

    func users() throws(ConfigurationError) -> ServerConfiguration.Users? {
        guard let jwks = text(.usersJWKS) else { return nil }
        guard let issuer = text(.usersIssuer) else {
            throw ConfigurationError(
                "\(ConfigurationKey.usersJWKS.environmentName) needs \(ConfigurationKey.usersIssuer.environmentName) beside it."
            )
        }
        return .init(issuer: issuer, audience: text(.usersAudience), jwks: jwks)
    }
}
