import Foundation
import Synchronization

/// A network between the nodes of a local cluster that can be cut: a bridge on this machine, and a network namespace for each node.
/// Needs Linux, root, ip(8) and bridge(8).
final class NodeNetwork: Sendable {
    /// Of the bridge, and the beginning of all other names: with the process, so that those of a killed one can be removed.
    private let name: String
    /// One with eight addresses of those for benchmarks (RFC 2544). This machine has none of them itself.
    private let number = Int.random(in: 0..<1 << 14)
    private static let prefix = "pw"
    private static let largest = 6
    private static let count = Mutex(0)

    init() throws {
        Self.remove { name in
            guard name.hasPrefix(Self.prefix), let owner = name.dropFirst(Self.prefix.count).split(separator: "-").first else {
                return false
            }
            return Int32(owner).map { kill($0, 0) != 0 && errno == ESRCH } ?? false
        }
        let count = Self.count.withLock { count in
            count += 1
            return count
        }
        name = "\(Self.prefix)\(getpid())-\(count)"
        try Self.run("ip link add \(name) type bridge && ip link set \(name) up")
    }

    /// Of the coordinator (0) and of the workers.
    func address(_ node: Int) -> String {
        let index = number * 8 + node + 1
        return "198.\(18 + index >> 16).\(index >> 8 & 255).\(index & 255)"
    }

    /// All addresses, as `pg_hba.conf` names them.
    var range: String { address(-1) + "/29" }

    private func linkAddress(_ node: Int) -> String { "02:00:00:00:00:0\(node + 1)" }
    private func name(_ node: Int) -> String { "\(name)w\(node)" }

    /// Makes the namespace of a node, and names it.
    func join(_ node: Int) throws -> String {
        let own = name(node)
        let addresses = (0..<Self.largest).filter { $0 != node }.map {
            "ip -n \(own) neighbour replace \(address($0)) lladdr \(linkAddress($0)) dev eth0 nud permanent"
        }
        // Permanent neighbours: without them a node gets an error within seconds that nobody answers for an address, as it does
        // within a local network, but not beyond a router.
        try Self.run(
            """
            ip netns add \(own)
            ip link add \(own) type veth peer name eth0 address \(linkAddress(node)) netns \(own)
            ip link set \(own) master \(name) up
            ip -n \(own) link set lo up
            ip -n \(own) address add \(address(node))/29 dev eth0
            ip -n \(own) link set eth0 up
            \(addresses.joined(separator: "\n"))
            """
        )
        return own
    }

    /// From now on the bridge forwards nothing of a node. Its interfaces stay up, so that neither end learns of it.
    func cut(_ node: Int) throws { try Self.run("bridge link set dev \(name(node)) state 0") }
    func restore(_ node: Int) throws { try Self.run("bridge link set dev \(name(node)) state 3") }

    func remove() { Self.remove { [name] in $0 == name || $0.hasPrefix(name + "w") } }

    private static func remove(where isGone: (String) -> Bool) {
        for (directory, command) in [("/run/netns", "netns"), ("/sys/class/net", "link")] {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            for name in names where isGone(name) { try? run("ip \(command) delete \(name)") }
        }
    }

    /// Also when a cluster stops, which no task waits for.
    private static func run(_ script: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-e", "-c", script]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw LocalPostgresError(.commandFailed, "\(script) failed: \(String(decoding: output, as: UTF8.self))")
        }
    }
}
