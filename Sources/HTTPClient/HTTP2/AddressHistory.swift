/// Which addresses of an origin could not be connected to lately: they are tried after the others. Used on the loop's thread only.
///
/// An address that does not answer takes half of the time for opening, each time. Those that work are not preferred over one another, so
/// that connections spread as the look-up has them.
final class AddressHistory {
    /// Afterwards an address that failed is tried in its turn again.
    static let memory = Duration.seconds(600)
    private var failures: [SocketAddress: ContinuousClock.Instant] = [:]

    func noteFailure(of address: SocketAddress?, now: ContinuousClock.Instant) {
        if let address { failures[address] = now }
    }

    func noteSuccess(of address: SocketAddress?) {
        if let address { failures[address] = nil }
    }

    /// The order to try them in.
    func ordered(_ found: [SocketAddress], now: ContinuousClock.Instant) -> [SocketAddress] {
        failures = failures.filter { now - $0.value < AddressHistory.memory }
        return found.filter { failures[$0] == nil } + found.filter { failures[$0] != nil }
    }
}
