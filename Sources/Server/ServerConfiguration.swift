package import Access
import Alerting
package import Attempts
package import Delivery
import HTTPClient
package import HTTPServer
import LiveActivities
package import Logging
package import Postgres

/// The settings of an instance, checked. Made by `ServerConfiguration.load`; nothing else reads configuration.
package struct ServerConfiguration: Sendable {
    /// Which parts of the service an instance runs.
    package enum Role: String, Sendable, CaseIterable {
        case api, send, alert, live
    }

    /// APNs credentials and endpoints.
    package struct APNs: Sendable {
        package var teamId: String
        package var keyId: String
        package var keyFile: String
        package var productionURL: String
        package var sandboxURL: String
        /// The only app that the key serves; nil: every app.
        package var app: String?

        package init(teamId: String, keyId: String, keyFile: String, productionURL: String, sandboxURL: String, app: String? = nil) {
            self.app = app
            self.teamId = teamId
            self.keyId = keyId
            self.keyFile = keyFile
            self.productionURL = productionURL
            self.sandboxURL = sandboxURL
        }
    }

    /// FCM credentials and endpoint.
    package struct FCM: Sendable {
        package var serviceAccountFile: String
        package var url: String

        package init(serviceAccountFile: String, url: String) {
            self.serviceAccountFile = serviceAccountFile
            self.url = url
        }
    }

    /// Where app users' tokens come from.
    package struct Users: Sendable {
        package var issuer: String
        package var audience: String?
        package var jwks: String

        package init(issuer: String, audience: String?, jwks: String) {
            self.issuer = issuer
            self.audience = audience
            self.jwks = jwks
        }
    }

    /// The listeners' certificate.
    package struct TLS: Sendable {
        package var certificateFile: String
        package var keyFile: String

        package init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    package var databaseURL: String
    /// Of a replica, for pages and backtests.
    package var readersURL: String?
    /// How far behind it may be.
    package var readersLag: Duration = .seconds(30)
    var databaseConnections = DatabasePools.Sizes.usual
    /// Off behind a pooler that shares sessions among clients.
    package var preparesStatements = true
    package var adminDatabaseURL: String
    package var migrationsDirectory = "sql/migrations"
    /// How long attempts and their counts are kept.
    package var partitionPlan = PartitionPlan()
    var labelLimits = LabelLimiter.Limits()
    package var ledgerFilters = LedgerFilterLimits()
    /// Apps that a rule by app is evaluated for, at most.
    var alertsMaxApps = 1000
    var httpHost = "127.0.0.1"
    package var httpPort = 8080
    /// Connections of a listener at once; further ones are closed.
    var httpConnections = 10_000
    /// Of one address; 0 for no limit.
    var httpConnectionsPerAddress = 0
    var httpIdleTimeout: Duration = .seconds(60)
    /// From the first byte of a request's head to its last.
    var httpHeaderTimeout: Duration = .seconds(10)
    /// How long a peer may take nothing of a response.
    var httpResponseTimeout: Duration = .seconds(30)
    /// For how long `/health/ready` says `draining` before the listeners close.
    var httpDrain: Duration = .zero
    /// How long the listeners may take to shut down, of the 28 s that all services have.
    var httpShutdownLimit: Duration = .seconds(10)
    package var tls: TLS?
    /// With a port, operators have a listener of their own.
    var operatorsHost = "127.0.0.1"
    package var operatorsPort: Int?
    var publicURL: String?
    package var bootstrapKey: String?
    /// People whom a proxy in front has signed in.
    package var proxySignIn: ProxySignIn?
    package var sessionLimits = SessionLimits()
    /// What raw push tokens are encrypted with. Instances that serve the API or send cannot do without.
    package var tokenKeys: TokenKeySet?
    package var logLevel = Logger.Level.info
    package var logFormat = "auto"
    package var metricsOpen = false
    package var alertsDirectory = "alerts"
    package var alertsLag: Duration = .seconds(60)
    package var webhookURL: String?
    var webhookSecret: WebhookSecret?
    /// Where outcomes of sends go.
    package var outcomeWebhooks: [OutcomeWebhook] = []
    var alertsHeartbeatURL: String?
    package var apns: APNs?
    package var fcm: FCM?
    /// A YAML file with further credentials.
    var credentialsFile: String?
    package var providersCAFile: String?
    /// HTTP/2 connections to one provider at most, of each credential.
    var providersConnections = 16
    /// Connections to receivers, score feeds and key sets at most, together.
    var receiverConnections = 64
    package var sendRetryBase: Duration?
    /// Score feeds to poll.
    var matchFeeds: [ScoreFeed] = []
    /// A send with more deliveries is bulk unless it names a class.
    var bulkThreshold = 1000
    /// When so many tokens are rejected that none is deactivated.
    var deactivationLimiter = DeactivationDecision.Limits()
    package var users: Users?
    /// Devices of a user at most.
    var devicesPerUser = DeviceStore.standardLimit
    package var roles = Set(Role.allCases)
    /// Of this program; instances compare it.
    package var version = ServerConfiguration.currentVersion
    package static let currentVersion = "0.1.0"
    /// How long before a match its followers get an alert; nil: they get none.
    var prematchLead: Duration?
    /// What sends can name in place of a title and a body.
    package var texts = SendTexts.standard
    /// Schemas of attributes types for Live Activities that are not matches.
    package var liveDirectory = "live-activities"
    /// Starts of Live Activities released per second.
    var liveStartsPerSecond = 300
    /// Of one device, over all it follows.
    package var liveStartsPerHour = 3
    package var liveStartsPerDay = 6
    /// Whether states of matches are also sent through broadcast channels.
    var liveChannels = ChannelMode.off

    package init(databaseURL: String) {
        self.databaseURL = databaseURL
        adminDatabaseURL = databaseURL
    }

    /// How one of the database's addresses is used.
    package func postgres(_ url: String, maxConnections: Int = 1, applicationName: String) -> PostgresConfiguration {
        PostgresConfiguration(
            url: url,
            maxConnections: maxConnections,
            applicationName: applicationName,
            preparesStatements: preparesStatements
        )
    }
}

/// A setting that cannot be used. The text says which, why, and what to change.
package struct ConfigurationError: Error, Sendable, CustomStringConvertible {
    package var description: String
    /// The setting itself may be right: the file that it names cannot be read.
    package var isUnreadableFile: Bool

    package init(_ description: String, isUnreadableFile: Bool = false) {
        self.description = description
        self.isUnreadableFile = isUnreadableFile
    }
}
