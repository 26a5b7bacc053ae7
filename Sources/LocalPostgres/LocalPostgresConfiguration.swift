/// Where the private cluster lives and how it is run.
package struct LocalPostgresConfiguration: Sendable {
    /// The state directory. It is created if missing; an existing one must be empty or made by us.
    package var directory: String
    /// The database that is created in it.
    package var database: String
    /// Flushes to disk as production does. False is for tests only: a crash of the machine then loses the cluster.
    package var durable: Bool
    /// The loopback TCP port; nil = the one of the last start if it is still free, or else any free one.
    package var port: Int?
    package var maxConnections: Int
    /// Further settings of `postgresql.conf`, by name.
    package var settings: [String: String]
    /// As root, when the user PostgreSQL runs under cannot enter `directory` (below `/root`, say): use a place under
    /// `/var/lib/pushwatch` instead. False makes that an error.
    var relocates: Bool
    /// A directory with the server's programs; nil = the installed ones.
    package var binaries: String?
    /// The network namespace that the server runs in, which only root can choose.
    var networkNamespace: String?

    package init(
        directory: String,
        binaries: String? = nil,
        database: String = "pushwatch",
        durable: Bool = true,
        port: Int? = nil,
        maxConnections: Int = 100,
        settings: [String: String] = [:],
        relocates: Bool = true
    ) {
        self.directory = directory
        self.binaries = binaries
        self.database = database
        self.durable = durable
        self.port = port
        self.maxConnections = maxConnections
        self.settings = settings
        self.relocates = relocates
    }
}
