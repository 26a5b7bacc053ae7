import CLibPQ
import Synchronization

/// Of several hosts of a connection string, the one that took writes last: tried first, so that after a fail-over new connections do not
/// each wait for the one that hangs. Shared by all that use one configuration. Safe to use from any thread.
///
/// Only where `target_session_attrs` looks for the primary; otherwise the order of the string means something.
final class HostOrder: Sendable {
    private let first = Mutex(0)

    /// Keywords that replace those of the string; none where its own order is kept.
    func keywords(for url: String) -> [(String, String)] {
        guard let hosts = HostOrder.hosts(in: url) else { return [] }
        let first = first.withLock { $0 }
        return hosts.map { ($0, ($1[first...] + $1[..<first]).joined(separator: ",")) }
    }

    /// A connection was made to this host and port.
    func connected(host: String, port: String, url: String) {
        guard let hosts = HostOrder.hosts(in: url) else { return }
        let names = hosts["host"] ?? hosts["hostaddr"] ?? []
        let ports = hosts["port"]
        let index = names.indices.first { names[$0] == host && (ports == nil || ports?[$0] == port) }
        if let index { first.withLock { $0 = index } }
    }

    private static func hosts(in url: String) -> [String: [String]]? {
        let parts = ConnectionString.keywords(of: url)
        guard ["read-write", "primary"].contains(parts["target_session_attrs"]) else { return nil }
        let lists = ["host", "hostaddr", "port"].compactMap { keyword in
            parts[keyword].map { (keyword, $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)) }
        }
        let count = lists.map(\.1.count).max() ?? 0
        // One port may stand for all hosts.
        let several = lists.filter { $0.1.count == count }
        guard count > 1, several.contains(where: { $0.0 != "port" }) else { return nil }
        return Dictionary(uniqueKeysWithValues: several)
    }
}
