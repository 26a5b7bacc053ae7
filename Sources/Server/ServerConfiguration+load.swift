import Access
import AlertRules
import Configuration
import Delivery
import Foundation
import LiveActivities
import Logging
import ServiceKit
import SystemPackage
import Yams

extension ServerConfiguration {
    /// Reads `PUSHWATCH_…` over the YAML file over the defaults. Unknown keys in either are errors.
    ///
    /// - Parameter local: a local installation would count as well, so an error may propose one.
    package static func load(
        file: String?,
        environment: [String: String] = ProcessInfo.processInfo.environment,
        local: Bool = false
    ) async throws -> ServerConfiguration {
        try checkEnvironment(environment)
        // Compose and shells make an empty one of a variable that is not set; the file counts.
        let environment = environment.filter { !$0.key.hasPrefix("PUSHWATCH_") || !$0.value.isEmpty }
        var providers: [any ConfigProvider] = [
            EnvironmentVariablesProvider(environmentVariables: environment).prefixKeys(with: "pushwatch")
        ]
        if let file, try hasSettings(file) {
            providers.append(try await FileProvider<YAMLSnapshot>(filePath: FilePath(file)))
        }
        return try ServerConfiguration(Settings(providers), cacheDirectory: environment["CACHE_DIRECTORY"], local: local)
    }

    private static func checkEnvironment(_ environment: [String: String]) throws(ConfigurationError) {
        var known = Set(ConfigurationKey.all.flatMap(\.acceptedNames).map(ConfigurationKey.environmentName(of:)))
        // What sql/README.md has analysts export for psql; their shell may run commands of Pushwatch, too.
        known.insert("PUSHWATCH_ANALYST_URL")
        for name in environment.keys.sorted() where name.hasPrefix("PUSHWATCH_") && !known.contains(name) {
            throw ConfigurationError("\(name) is not a setting of Pushwatch; `pushwatch serve --help` lists them.")
        }
    }

    /// Whether a file has settings. Throws for one that has something else.
    private static func hasSettings(_ path: String) throws -> Bool {
        guard let text = FileManager.default.contents(atPath: path) else {
            throw ConfigurationError("The configuration file \(path) cannot be read: \(FileFault.cause(path)).", isUnreadableFile: true)
        }
        let document: Any?
        do { document = try Yams.load(yaml: String(decoding: text, as: UTF8.self)) } catch {
            throw ConfigurationError("\(path) is not valid YAML: \(YAMLFault.text(of: error))")
        }
        guard let document, !(document is NSNull) else { return false }
        guard document is [String: Any] else {
            throw ConfigurationError("\(path) must be a mapping of settings, such as `http:` with `port: 8080` under it.")
        }
        let values = leaves(of: document, under: "")
        let known = Set(ConfigurationKey.all.flatMap(\.acceptedNames))
        for (name, value) in values.sorted(by: { $0.name < $1.name }) {
            // All under it is commented out.
            if value is NSNull, known.contains(where: { $0.hasPrefix(name + ".") }) { continue }
            let parts = ConfigurationKey.all.map(\.name).filter { $0.hasPrefix(name + ".") }
            guard parts.isEmpty else {
                let names = parts.map { "`\($0)`" }.joined(separator: ", ")
                throw ConfigurationError("\(path): `\(name)` has no value of its own; the settings under it are \(names).")
            }
            guard known.contains(name) else {
                throw ConfigurationError("\(path): `\(name)` is not a setting of Pushwatch; `pushwatch serve --help` lists them.")
            }
            guard !(value is [Any]) else {
                throw ConfigurationError("\(path): `\(name)` must be one value; where it may have several, separate them by commas.")
            }
        }
        return true
    }

    /// Whether one port of both addresses is one port.
    private static func overlap(_ host: String, _ other: String) -> Bool {
        let hosts: Set = [host, other]
        return hosts.count == 1 || !hosts.isDisjoint(with: ["0.0.0.0", "::"])
            || hosts.contains("localhost") && hosts.isSubset(of: ["127.0.0.1", "::1", "localhost"])
    }

    /// The dotted names of what a file sets.
    static func names(ofYAML text: String) throws -> [String] { try leaves(of: Yams.load(yaml: text), under: "").map(\.name) }

    private static func leaves(of value: Any?, under prefix: String) -> [(name: String, value: Any?)] {
        guard let mapping = value as? [String: Any] else { return prefix.isEmpty ? [] : [(prefix, value)] }
        return mapping.flatMap { leaves(of: $0.value, under: prefix.isEmpty ? $0.key : "\(prefix).\($0.key)") }
    }

    /// - Parameters:
    ///   - cacheDirectory: the one that systemd made for the service.
    ///   - local: a local installation would count as well.
    private init(_ settings: Settings, cacheDirectory: String?, local: Bool) throws {
        guard let url = try settings.database(.databaseURL) else {
            let (name, setting) = (ConfigurationKey.databaseURL.environmentName, ConfigurationKey.databaseURL.name)
            let advice = local ? " Or start a local installation with `pushwatch-dev up` and run this in its directory." : ""
            throw ConfigurationError(
                "No database is configured. Set \(name), `\(setting)` in the file of --config, or pass --database.\(advice)"
            )
        }
        self.init(databaseURL: url)
        databaseConnections = try settings.number(.databaseConnections, DatabasePools.Sizes.least...500) ?? databaseConnections
        readersURL = try settings.database(.databaseReadersURL)
        readersLag = try settings.number(.databaseReadersLag, 5...3600).map { .seconds($0) } ?? readersLag
        preparesStatements = try settings.flag(.databasePreparesStatements) ?? preparesStatements
        adminDatabaseURL = try settings.database(.adminDatabaseURL) ?? url
        migrationsDirectory = settings.text(.migrationsDirectory) ?? migrationsDirectory
        partitionPlan = try settings.partitionPlan()
        labelLimits = try settings.labelLimits()
        ledgerFilters = try settings.ledgerFilters(cacheDirectory: cacheDirectory)
        if let apps = try settings.number(.alertsMaxApps, 1...100_000) { alertsMaxApps = apps }
        httpHost = settings.text(.httpHost) ?? httpHost
        httpPort = try settings.number(.httpPort, 0...65_535) ?? httpPort
        httpConnections = try settings.number(.httpConnections, 1...1_000_000) ?? httpConnections
        httpConnectionsPerAddress = try settings.number(.httpConnectionsPerAddress, 0...1_000_000) ?? httpConnectionsPerAddress
        httpIdleTimeout = try settings.number(.httpIdleTimeout, 1...86_400).map { .seconds($0) } ?? httpIdleTimeout
        httpHeaderTimeout = try settings.number(.httpHeaderTimeout, 1...3600).map { .seconds($0) } ?? httpHeaderTimeout
        httpDrain = try settings.number(.httpDrain, 0...15).map { .seconds($0) } ?? httpDrain
        tls = try settings.tls()
        operatorsHost = settings.text(.operatorsHost) ?? httpHost
        operatorsPort = try settings.number(.operatorsPort, 0...65_535)
        if let operatorsPort, operatorsPort == httpPort, httpPort != 0, Self.overlap(httpHost, operatorsHost) {
            throw ConfigurationError(
                "\(ConfigurationKey.operatorsPort.environmentName) (`\(ConfigurationKey.operatorsPort.name)`) must differ from "
                    + "\(ConfigurationKey.httpPort.environmentName) (`\(ConfigurationKey.httpPort.name)`), or each listener needs an "
                    + "address of its own: they are \(operatorsHost):\(operatorsPort) and \(httpHost):\(httpPort)."
            )
        }
        publicURL = try settings.url(.publicURL)?.withoutLastSlash
        bootstrapKey = try settings.secret(.bootstrapKey, atLeast: BootstrapKey.minimumLength)
        proxySignIn = try settings.proxySignIn()
        sessionLimits = try settings.sessionLimits()
        tokenKeys = try settings.tokenKeys()
        logLevel = try settings.choice(.logLevel, of: Logger.Level.allCases.map(\.rawValue)) { Logger.Level(rawValue: $0) } ?? logLevel
        let formats = ["text", "json", "auto"]
        logFormat = try settings.choice(.logFormat, of: formats) { formats.contains($0) ? $0 : nil } ?? logFormat
        metricsOpen = try settings.flag(.metricsOpen) ?? metricsOpen
        alertsDirectory = settings.text(.alertsDirectory) ?? alertsDirectory
        alertsLag = try settings.number(.alertsLag, 0...600).map { .seconds($0) } ?? alertsLag
        webhookURL = try settings.url(.webhookURL)
        webhookSecret = try settings.webhookSecret()
        alertsHeartbeatURL = try settings.url(.alertsHeartbeatURL)
        apns = try settings.apns()
        fcm = try settings.fcm()
        credentialsFile = settings.text(.credentialsFile)
        providersCAFile = settings.text(.providersCA)
        providersConnections = try settings.number(.providersConnections, 1...64) ?? providersConnections
        sendRetryBase = try settings.number(.sendRetryBase, 1...3600).map { .seconds($0) }
        matchFeeds = try settings.urls(.matchFeedURLs).map { ScoreFeed(url: $0) }
        if let path = settings.text(.sendWebhooksFile) {
            outcomeWebhooks = try OutcomeWebhook.read(SettingsFile(path, of: .sendWebhooksFile))
        }
        if let path = settings.text(.matchFeedsFile) { matchFeeds += try ScoreFeed.read(file: path) }
        if let percent = try settings.number(.deactivationLimiterPercent, 1...100) {
            deactivationLimiter.ambiguousShare = Double(percent) / 100
        }
        if let percent = try settings.number(.deactivationLimiterRefusedPercent, 1...100) {
            deactivationLimiter.refusedShare = Double(percent) / 100
        }
        if let threshold = try settings.number(.sendBulkThreshold, 1...1_000_000) { bulkThreshold = threshold }
        if let count = try settings.number(.deactivationLimiterCount, 1...1_000_000) { deactivationLimiter.count = Int64(count) }
        users = try settings.users()
        devicesPerUser = try settings.number(.devicesPerUser, 1...100_000) ?? devicesPerUser
        prematchLead = try settings.number(.livePrematch, 1...1440).map { .seconds($0 * 60) }
        if let path = settings.text(.sendTexts) { texts = try SendTexts(SettingsFile(path, of: .sendTexts)).over(.standard) }
        liveDirectory = settings.text(.liveDirectory) ?? liveDirectory
        liveStartsPerSecond = try settings.number(.liveStarts, 1...100_000) ?? liveStartsPerSecond
        liveStartsPerHour = try settings.number(.liveStartsPerHour, 1...10_000) ?? liveStartsPerHour
        liveStartsPerDay = try settings.number(.liveStartsPerDay, 1...100_000) ?? liveStartsPerDay
        // YAML takes `off` for a truth value.
        let modes = ChannelMode.allCases.map(\.rawValue)
        liveChannels = try settings.choice(.liveChannels, of: modes) { $0 == "false" ? .off : ChannelMode(rawValue: $0) } ?? liveChannels
    }
}
