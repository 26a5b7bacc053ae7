/// One setting: its name in a file, what it means, and what happens without it. The table is also what `--help` and the documents show.
package struct ConfigurationKey: Sendable, Hashable {
    /// Dotted, as in the YAML file: `http.port` is `http:` with `port:` in it.
    package let name: String
    package let meaning: String
    package let standard: String
    package let isSecret: Bool

    /// `http.port` → `PUSHWATCH_HTTP_PORT`; a capital inside a word starts a new one.
    package var environmentName: String { ConfigurationKey.environmentName(of: name) }

    /// A secret may be in a file of its own instead: `database.urlFile`, `PUSHWATCH_DATABASE_URL_FILE`.
    var fileName: String? { isSecret ? name + "File" : nil }

    var acceptedNames: [String] { [name] + (fileName.map { [$0] } ?? []) }

    static func environmentName(of name: String) -> String {
        "PUSHWATCH_"
            + name.reduce(into: "") { text, character in
                if character == "." {
                    text += "_"
                } else if character.isUppercase {
                    text += "_" + String(character)
                } else {
                    text += character.uppercased()
                }
            }
    }

    private init(_ name: String, _ meaning: String, standard: String = "", isSecret: Bool = false) {
        self.name = name
        self.meaning = meaning
        self.standard = standard
        self.isSecret = isSecret
    }

    package static let databaseURL = Self("database.url", "required: PostgreSQL connection string or URI", isSecret: true)
    static let databaseConnections = Self(
        "database.connections",
        "connections of this instance at most, 19 to 500, divided among ingestion, sending, alerting, Live Activities, pages and others",
        standard: "35"
    )
    static let databaseReadersURL = Self(
        "database.readersUrl",
        "connection to a streaming replica, from which pages and backtests are read",
        standard: "none: pages are read from database.url",
        isSecret: true
    )
    static let databaseReadersLag = Self(
        "database.readersLagSeconds",
        "how far the replica may be behind; beyond that, pages are read from the primary",
        standard: "30"
    )
    static let databasePreparesStatements = Self(
        "database.preparesStatements",
        "false behind a connection pooler in transaction mode: statements without names, nothing kept in sessions",
        standard: "true"
    )
    package static let adminDatabaseURL = Self(
        "admin.database.url",
        "connection for partitions, migrations, keys, fsck and attempts import",
        standard: "database.url",
        isSecret: true
    )
    static let attemptsRetention = Self("attempts.retentionDays", "days that attempts are kept, 16 to 1100", standard: "90")
    static let rollupsRetention = Self(
        "rollups.retentionDays",
        "days that counts per minute are kept, by whole months, 60 to 7300 and no less than the attempts",
        standard: "400"
    )
    static let ledgerCacheDirectory = Self(
        "ledger.cacheDirectory",
        "local directory for the filters of the ledger's frozen days; without one each start makes them again, in the background",
        standard: "systemd's CacheDirectory"
    )
    static let ledgerFilterMemory = Self(
        "ledger.filterMegabytes",
        "memory of those filters at most, in MiB, 2 bytes an attempt of eight days; what is beyond is looked up by index",
        standard: "1024"
    )
    static let labelApps = Self(
        "attempts.labels.apps",
        "distinct values of `app` counted separately for each API key and UTC day; further ones are counted as `other`",
        standard: "100"
    )
    static let labelAppVersions = Self("attempts.labels.appVersions", "the same limit for `appVersion`", standard: "1000")
    static let labelProviderCodes = Self("attempts.labels.providerCodes", "the same limit for `providerErrorCode`", standard: "1000")
    static let labelPushTypes = Self("attempts.labels.pushTypes", "the same limit for `pushType`", standard: "100")
    static let alertsMaxApps = Self("alerts.maxApps", "apps that a rule by app is evaluated for, at most", standard: "1000")
    static let migrationsDirectory = Self("migrations.directory", "the numbered .sql files", standard: "sql/migrations")
    static let httpHost = Self("http.host", "address to listen on", standard: "127.0.0.1")
    static let httpPort = Self("http.port", "port to listen on; 0 takes a free one", standard: "8080")
    static let httpConnections = Self("http.connections", "connections of a listener at once; further ones are closed", standard: "10000")
    static let httpConnectionsPerAddress = Self(
        "http.connectionsPerAddress",
        "connections of one address at once; further ones are closed. 0: no limit, as behind a balancer",
        standard: "0"
    )
    static let httpIdleTimeout = Self("http.idleTimeoutSeconds", "a connection idle that long is closed", standard: "60")
    static let httpHeaderTimeout = Self(
        "http.headerTimeoutSeconds",
        "how long a request's head may take, first byte to last",
        standard: "10"
    )
    static let httpDrain = Self(
        "http.drainSeconds",
        "how long /health/ready says draining before the listeners close, 0 to 15: a balancer's check interval plus one",
        standard: "0"
    )
    static let httpCertificate = Self("http.tls.certificateFile", "PEM chain: the listeners speak TLS; read at the start")
    static let httpCertificateKey = Self("http.tls.keyFile", "PEM key of the certificate")
    static let operatorsHost = Self("operators.host", "address of the operators' listener", standard: "http.host")
    static let operatorsPort = Self(
        "operators.port",
        "a second listener, with everything; the first then serves senders and apps only",
        standard: "one listener for all"
    )
    static let publicURL = Self(
        "public.url",
        "where people reach this service; used in links. Required with the role alert where the port is 0",
        standard: "http://host:port"
    )
    static let bootstrapKey = Self("bootstrap.key", "an API key with every scope, for a first start", isSecret: true)
    static let signInLifetime = Self("signIn.lifetimeHours", "how long somebody stays signed in", standard: "12")
    static let signInIdle = Self("signIn.idleMinutes", "minutes without a request after which a session ends", standard: "120")
    static let proxyHeader = Self("signIn.proxy.header", "header in which a proxy in front names the person it has signed in")
    static let proxyAddresses = Self(
        "signIn.proxy.addresses",
        "addresses and networks of that proxy, separated by commas; from any other address the header is ignored"
    )
    static let proxyScopes = Self(
        "signIn.proxy.scopes",
        "what such a person may do, separated by commas",
        standard: "alerts:read,alerts:write"
    )
    static let logLevel = Self("log.level", "trace, debug, info, notice, warning, error or critical", standard: "info")
    static let logFormat = Self("log.format", "text (human-readable), json or auto: text on a terminal, logfmt elsewhere", standard: "auto")
    static let metricsOpen = Self("metrics.open", "serve /metrics without a key", standard: "false")
    static let tokenKeys = Self(
        "token.keys",
        "required with the roles api and send: file with the keys that push tokens are encrypted with, one id:base64 a line, the current "
            + "one first; `pushwatch token-keys create` prints one"
    )
    static let alertsDirectory = Self("alerts.directory", "rules, runbooks and receivers", standard: "alerts")
    static let alertsLag = Self("alerts.lagSeconds", "how long after its end a minute is evaluated", standard: "60")
    static let webhookURL = Self("alerts.webhook.url", "a receiver for every alert (Alertmanager webhook body)")
    static let webhookSecret = Self("alerts.webhook.secret", "signs webhook deliveries (Standard Webhooks)", isSecret: true)
    static let alertsHeartbeatURL = Self(
        "alerts.heartbeatUrl",
        "called with GET every minute while alerts are evaluated and delivered (dead man's switch)",
        isSecret: true
    )
    static let apnsTeam = Self("apns.teamId", "Apple team id")
    static let apnsKeyId = Self("apns.keyId", "id of the signing key")
    static let apnsKeyFile = Self("apns.keyFile", "the .p8 file")
    static let apnsApp = Self("apns.app", "the only app (bundle id) that the key serves; registrations may then leave out platform and app")
    static let apnsProduction = Self("apns.production.url", "production endpoint", standard: "https://api.push.apple.com")
    static let apnsSandbox = Self("apns.sandbox.url", "sandbox endpoint", standard: "https://api.sandbox.push.apple.com")
    static let fcmAccountFile = Self("fcm.serviceAccountFile", "Google service account (JSON)")
    static let fcmURL = Self("fcm.url", "FCM endpoint", standard: "https://fcm.googleapis.com")
    static let credentialsFile = Self("credentials.file", "YAML file with further APNs keys and Firebase projects, by app")
    static let providersCA = Self("providers.caFile", "certificates to trust for the providers", standard: "the system's")
    static let providersConnections = Self(
        "providers.connections",
        "HTTP/2 connections to one provider at most, of each credential",
        standard: "16"
    )
    static let sendRetryBase = Self(
        "sends.retryBaseSeconds",
        "replaces all waits between attempts by a random one of at most this; for tests and demonstrations",
        standard: "by provider and failure"
    )
    static let sendBulkThreshold = Self(
        "sends.bulkThreshold",
        "a send with more deliveries is bulk unless it names a class",
        standard: "1000"
    )
    static let matchFeedURLs = Self("matches.feedUrls", "score feeds to poll, separated by commas (docs/score-feed.md)", isSecret: true)
    static let sendWebhooksFile = Self(
        "sends.webhooksFile",
        "YAML file with webhooks that receive the outcomes of sends (docs/operations.md#outcomes-by-webhook)"
    )
    static let matchFeedsFile = Self("matches.feedsFile", "YAML file with score feeds (docs/score-feed.md)")
    static let deactivationLimiterPercent = Self(
        "sends.deactivationLimiter.percent",
        "share of ambiguous token rejections within 15 minutes above which no token is deactivated",
        standard: "5"
    )
    static let deactivationLimiterRefusedPercent = Self(
        "sends.deactivationLimiter.refusedPercent",
        "the same share for all token rejections",
        standard: "25"
    )
    static let deactivationLimiterCount = Self(
        "sends.deactivationLimiter.count",
        "rejections below which the limiter never opens",
        standard: "20"
    )
    static let usersIssuer = Self("users.issuer", "`iss` of app-user tokens")
    static let usersAudience = Self(
        "users.audience",
        "`aud` of app-user tokens, or `client_id` of Cognito's access tokens",
        standard: "any of the issuer"
    )
    static let devicesPerUser = Self("devices.perUser", "devices of a user at most, 1 to 100000", standard: "100")
    static let usersJWKS = Self("users.jwks", "file or https URL with the issuer's keys")

    static let liveDirectory = Self("live.directory", "schemas of Live Activity types", standard: "live-activities")
    static let livePrematch = Self(
        "live.prematchMinutes",
        "minutes before a match at which its followers get an alert, 1 to 1440",
        standard: "no alert"
    )
    static let sendTexts = Self("sends.texts", "YAML file with titles and bodies that sends name, by app, name and locale")
    static let liveStarts = Self("live.startsPerSecond", "Live Activity starts released per second, by each instance", standard: "300")
    static let liveStartsPerHour = Self("live.startsPerHour", "Live Activity starts of one device in an hour", standard: "3")
    static let liveStartsPerDay = Self("live.startsPerDay", "Live Activity starts of one device in a day", standard: "6")
    static let liveChannels = Self(
        "live.channels",
        "broadcast channels (iOS 18) for matches: off, own (an unknown channel of the app is a leftover, and deleted) or shared (others "
            + "make channels of the app, too)",
        standard: "off"
    )

    /// In the order of docs/operations.md.
    package static let all: [ConfigurationKey] = [
        databaseURL, databaseConnections, databaseReadersURL, databaseReadersLag, databasePreparesStatements,
        adminDatabaseURL,
        attemptsRetention,
        rollupsRetention,
        ledgerCacheDirectory, ledgerFilterMemory,
        labelApps, labelAppVersions, labelProviderCodes, labelPushTypes,
        alertsMaxApps,
        migrationsDirectory,
        httpHost, httpPort, httpConnections, httpConnectionsPerAddress, httpIdleTimeout, httpHeaderTimeout, httpDrain, httpCertificate,
        httpCertificateKey,
        operatorsPort, operatorsHost,
        publicURL,
        bootstrapKey,
        signInLifetime, signInIdle, proxyHeader, proxyAddresses, proxyScopes,
        tokenKeys,
        logLevel, logFormat,
        metricsOpen,
        alertsDirectory, alertsLag, webhookURL, webhookSecret, alertsHeartbeatURL,
        apnsTeam, apnsKeyId, apnsKeyFile, apnsApp, apnsProduction, apnsSandbox,
        fcmAccountFile, fcmURL,
        credentialsFile,
        providersCA, providersConnections,
        sendRetryBase,
        matchFeedURLs,
        sendWebhooksFile,
        matchFeedsFile,
        sendBulkThreshold, deactivationLimiterPercent, deactivationLimiterRefusedPercent, deactivationLimiterCount,
        liveDirectory, livePrematch,
        sendTexts,
        liveStarts, liveStartsPerHour, liveStartsPerDay, liveChannels,
        usersJWKS, usersIssuer, usersAudience,
        devicesPerUser,
    ]
}
