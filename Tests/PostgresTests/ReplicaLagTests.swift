import Testing

@testable import Postgres

@Suite("How far a replica is behind")
struct ReplicaLagTests {
    private let start = ContinuousClock.now

    @Test("it shows what the primary had when it had no more than is replayed")
    func shown() {
        var lag = ReplicaLag()
        lag.observe(replica: 100)
        #expect(lag.shownUntil == nil)
        lag.observe(primary: 100, at: start)
        lag.observe(primary: 200, at: start + .seconds(2))
        lag.observe(primary: 300, at: start + .seconds(4))
        lag.observe(replica: 99)
        #expect(lag.shownUntil == nil)
        lag.observe(replica: 250)
        #expect(lag.shownUntil == start + .seconds(2))
        // It stands still: nothing newer is shown.
        lag.observe(primary: 400, at: start + .seconds(6))
        lag.observe(replica: 250)
        #expect(lag.shownUntil == start + .seconds(2))
        lag.observe(replica: 400)
        #expect(lag.shownUntil == start + .seconds(6))
        // A quiet primary: the same end, asked later.
        lag.observe(primary: 400, at: start + .seconds(90))
        lag.observe(replica: 400)
        #expect(lag.shownUntil == start + .seconds(90))
    }

    @Test("a primary that has less than before is another one, and nothing is known any more")
    func otherPrimary() {
        var lag = ReplicaLag()
        lag.observe(primary: 100, at: start)
        lag.observe(replica: 100)
        lag.observe(primary: 200, at: start + .seconds(2))
        lag.observe(primary: 150, at: start + .seconds(4))
        #expect(lag.shownUntil == nil)
        lag.observe(replica: 150)
        #expect(lag.shownUntil == start + .seconds(4))
    }
}
