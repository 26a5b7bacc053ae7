import Foundation

/// A network of IP addresses (`10.0.0.0/8`, `2001:db8::/32`), or a single one.
///
/// An IPv4 address that arrives over IPv6 (`::ffff:10.1.2.3`) is the IPv4 address.
package struct AddressRange: Sendable, Hashable {
    /// Sixteen; an IPv4 address is in the last four.
    private let network: [UInt8]
    private let bits: Int

    /// Nil for what is neither an address nor an address, a slash and a number of bits.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let bytes = Self.bytes(of: String(first)) else { return nil }
        let offset = first.contains(":") ? 0 : 96
        var bits = 128
        if parts.count == 2 {
            guard parts[1].allSatisfy(\.isNumber), let own = Int(parts[1]), (0...(128 - offset)).contains(own) else { return nil }
            bits = own + offset
        }
        self.bits = bits
        network = Self.masked(bytes, bits)
    }

    package func contains(_ address: String) -> Bool {
        guard let bytes = Self.bytes(of: address) else { return false }
        return Self.masked(bytes, bits) == network
    }

    private static func bytes(of address: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, address, &four) == 1 {
            return [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF] + withUnsafeBytes(of: four) { Array($0) }
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, address, &six) == 1 else { return nil }
        return withUnsafeBytes(of: six) { Array($0) }
    }

    private static func masked(_ bytes: [UInt8], _ bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(8, max(0, bits - index * 8))
            return byte & UInt8(truncatingIfNeeded: 0xFF00 >> kept)
        }
    }
}
