/// A delivery that is about to be attempted. By reference: each of its functions that waits would keep a copy.
final class StartedDelivery: Sendable {
    let delivery: ClaimedDelivery

    init(_ delivery: ClaimedDelivery) { self.delivery = delivery }
}
