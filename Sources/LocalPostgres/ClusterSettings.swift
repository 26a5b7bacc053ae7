/// The settings we write into the cluster at every start, as `pushwatch.conf`.
struct ClusterSettings {
    var port: Int
    var socketDirectory: String
    var configuration: LocalPostgresConfiguration

    var text: String {
        var settings = [
            "listen_addresses": "127.0.0.1",
            "port": "\(port)",
            "unix_socket_directories": socketDirectory,
            "unix_socket_permissions": "0700",
            "max_connections": "\(configuration.maxConnections)",
            "shared_buffers": "128MB",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "lc_messages": "C",
            "logging_collector": "off",
            "log_destination": "stderr",
            "log_line_prefix": "%m [%p] %a ",
            "cluster_name": "pushwatch",
            "password_encryption": "scram-sha-256",
        ]
        settings.merge(configuration.durable ? ClusterSettings.durable : ClusterSettings.forTests) { $1 }
        settings.merge(configuration.settings) { $1 }
        let lines = settings.sorted { $0.key < $1.key }.map { "\($0.key) = '\($0.value.doublingQuotes)'" }
        return "# Written by Pushwatch at every start; changes here are lost.\n" + lines.joined(separator: "\n") + "\n"
    }

    private static let durable = ["fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "max_wal_size": "4GB"]

    /// Nothing is flushed, little is kept.
    private static let forTests = [
        "fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "wal_level": "minimal", "max_wal_senders": "0",
        "shared_buffers": "64MB", "max_wal_size": "1GB", "min_wal_size": "80MB", "checkpoint_timeout": "1h", "log_checkpoints": "off",
        "jit": "off", "max_parallel_workers_per_gather": "0",
    ]
}

extension String {
    fileprivate var doublingQuotes: String { split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") }
}
