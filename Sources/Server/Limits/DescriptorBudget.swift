/// How many file descriptors each part of the service may use, so that together they stay below the process's limit.
///
/// Running out is no error that can be handled: libdispatch ends the process. Once a second it opens /proc/TID/stat of each worker thread
/// (`_dispatch_workq_count_runnable_workers`, src/event/workqueue.c), and takes every failure, EMFILE as well, for a thread that has
/// vanished (`DISPATCH_CLIENT_CRASH`, SIGILL). So the limits of all parts plus a reserve are never more than the process has.
struct DescriptorBudget: Equatable {
    /// Below this the service does not start.
    static let leastLimit = 256
    /// Kept free: libdispatch's files and timers, files that are read, mails.
    static let reserve = 64
    /// Accepted connections of a listener that wait to be closed because the listener is full.
    static let closing = 16

    /// Of each listener.
    private(set) var httpConnections: Int
    private(set) var databaseConnections: Int
    /// Of each credential to each endpoint.
    private(set) var providerConnections: Int
    /// Of receivers, score feeds and key sets together, beyond one of each.
    private(set) var receiverConnections: Int
    /// Receivers of alerts, webhooks for outcomes and score feeds, which share no connections.
    private let receivers: Int

    /// A cancellation of a statement needs a connection of its own. Partitions have two connections, migrations one.
    private static func database(_ connections: Int) -> Int { 2 * (connections + 3) }
    /// A client has an epoll and an eventfd, and looks one name up at a time for each endpoint. While a changed credential is tested there
    /// are two clients.
    private static func providers(_ connections: Int, endpoints: Int) -> Int { endpoints * 2 * (3 + connections) }
    /// Two descriptors with which libcurl is woken, and four connections that are kept; or four mails at a time.
    private static func receivers(_ connections: Int, receivers: Int) -> Int { connections + 6 * receivers }
    private static func http(_ connections: Int, listeners: Int) -> Int { listeners * (connections + closing) }
    /// Standard streams and logs, and what each event loop has: epoll, eventfd, timerfd.
    private static func own(cores: Int) -> Int { 16 + 3 * cores }

    /// All of it, with the reserve.
    func total(endpoints: Int, listeners: Int, cores: Int) -> Int {
        DescriptorBudget.reserve + DescriptorBudget.own(cores: cores) + DescriptorBudget.database(databaseConnections)
            + DescriptorBudget.providers(providerConnections, endpoints: endpoints)
            + DescriptorBudget.receivers(receiverConnections, receivers: receivers)
            + DescriptorBudget.http(httpConnections, listeners: listeners)
    }

    /// What is configured, reduced to fit `limit`. Throws when `limit` is too low to work with.
    ///
    /// - Parameters:
    ///   - endpoints: of all credentials.
    ///   - alertReceivers: as they are at the start; those that are added later take from the reserve until the next one.
    init(
        _ configuration: ServerConfiguration,
        endpoints: Int,
        alertReceivers: Int,
        limit: Int,
        cores: Int
    ) throws(ConfigurationError) {
        let listeners = configuration.listeners.count
        httpConnections = min(configuration.httpConnections, 32)
        databaseConnections = min(configuration.databaseConnections, DatabasePools.Sizes.least)
        providerConnections = 1
        receiverConnections = min(configuration.receiverConnections, 8)
        receivers = alertReceivers + configuration.outcomeWebhooks.count + configuration.matchFeeds.count
        let least = max(total(endpoints: endpoints, listeners: listeners, cores: cores), DescriptorBudget.leastLimit)
        guard limit >= least else {
            throw ConfigurationError(
                "The limit of open files (RLIMIT_NOFILE) is \(limit); with this configuration the service needs at least \(least). Raise it: "
                    + "`ulimit -n`, LimitNOFILE= in the systemd unit, or --ulimit nofile= of the container."
            )
        }
        var left = limit - total(endpoints: endpoints, listeners: listeners, cores: cores)
        /// More of one kind, for at most so much of what is left.
        func more(of wanted: Int, descriptorsEach: Int, share: Int) -> Int {
            let count = descriptorsEach == 0 ? wanted : max(0, min(wanted, left / share / descriptorsEach))
            left -= count * descriptorsEach
            return count
        }
        databaseConnections += more(of: configuration.databaseConnections - databaseConnections, descriptorsEach: 2, share: 2)
        providerConnections += more(of: configuration.providersConnections - providerConnections, descriptorsEach: 2 * endpoints, share: 4)
        receiverConnections += more(of: configuration.receiverConnections - receiverConnections, descriptorsEach: 1, share: 4)
        httpConnections += more(of: configuration.httpConnections - httpConnections, descriptorsEach: listeners, share: 1)
    }
}
