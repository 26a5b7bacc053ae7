import Delivery
import PushContract
import Testing

@Suite("QueueScheduler")
struct QueueSchedulerTests {
    private func queue(_ id: Int32, critical: Bool = false) -> SendQueue {
        SendQueue(id: id, app: "app\(id)", provider: .fcm, deliveryClass: critical ? .critical : .normal)
    }

    private func count(_ grants: [QueueScheduler.Grant], _ queue: Int32) -> Int {
        grants.filter { $0.queue == queue }.reduce(0) { $0 + $1.count }
    }

    @Test("alone, a normal queue gets all but the reserve")
    func alone() {
        var scheduler = QueueScheduler()
        #expect(scheduler.grants(queues: [queue(1)], slots: .init(capacity: 100)) == [.init(queue: 1, count: 80)])
        #expect(scheduler.grants(queues: [queue(1)], slots: .init(capacity: 100, others: 80)).isEmpty)
    }

    @Test("alone, a critical queue gets everything, the reserve too")
    func criticalAlone() {
        var scheduler = QueueScheduler()
        #expect(
            scheduler.grants(queues: [queue(1, critical: true)], slots: .init(capacity: 100)) == [
                .init(queue: 1, count: 100)
            ]
        )
        #expect(
            scheduler.grants(queues: [queue(1, critical: true)], slots: .init(capacity: 100, critical: 15, others: 80)) == [
                .init(queue: 1, count: 5)
            ]
        )
    }

    @Test("critical queues come first and weigh eight times as much; the others still move")
    func weights() {
        var scheduler = QueueScheduler()
        let grants = scheduler.grants(queues: [queue(1), queue(2, critical: true)], slots: .init(capacity: 90))
        #expect(grants.first?.queue == 2)
        #expect(count(grants, 2) == 80)
        #expect(count(grants, 1) == 10)
    }

    @Test("nothing is granted beyond the free slots", arguments: [0, 1, 2, 3, 7, 50, 99, 100])
    func bound(free: Int) {
        var scheduler = QueueScheduler()
        let queues = (1...7).map { queue($0, critical: $0 > 5) }
        for _ in 0..<20 {
            let grants = scheduler.grants(queues: queues, slots: .init(capacity: 100, critical: 100 - free))
            #expect(grants.reduce(0) { $0 + $1.count } <= free)
            #expect(grants.allSatisfy { $0.count > 0 })
        }
    }

    @Test("equal queues get equal shares over time, also when there are fewer slots than queues")
    func evenness() {
        var scheduler = QueueScheduler(policy: .init(criticalReserve: 0))
        let queues = (1...5).map { queue($0) }
        var totals: [Int32: Int] = [:]
        for _ in 0..<100 {
            for grant in scheduler.grants(queues: queues, slots: .init(capacity: 3)) {
                totals[grant.queue, default: 0] += grant.count
            }
        }
        #expect(totals.values.reduce(0, +) == 300)
        #expect(totals.values.allSatisfy { (55...65).contains($0) }, "\(totals)")
    }

    @Test("a queue that had less than it was granted saves nothing up")
    func noHoarding() {
        var scheduler = QueueScheduler(policy: .init(criticalReserve: 0))
        let queues = [queue(1), queue(2)]
        for _ in 0..<50 {
            for grant in scheduler.grants(queues: queues, slots: .init(capacity: 10)) where grant.queue == 1 {
                scheduler.claimed(0, of: grant)
            }
        }
        #expect(count(scheduler.grants(queues: queues, slots: .init(capacity: 10)), 1) <= 6)
    }

    @Test(
        "next to endless critical work others get their ninth, also when few slots become free at a time",
        arguments: [1, 3, 20, 100]
    )
    func trickle(free: Int) {
        var scheduler = QueueScheduler()
        var normal = 0
        let rounds = 900 / free
        for _ in 0..<rounds {
            normal += count(
                scheduler.grants(queues: [queue(1), queue(2, critical: true)], slots: .init(capacity: 500, critical: 500 - free)),
                1
            )
        }
        #expect((rounds * free / 9 - 1...rounds * free / 9 + 1).contains(normal), "\(normal) of \(rounds * free)")
    }

    @Test("others never hold more than all slots but the reserve", arguments: [(0, 80), (50, 30), (80, 0), (95, 0)])
    func reserve(inFlight: Int, granted: Int) {
        var scheduler = QueueScheduler()
        let grants = scheduler.grants(queues: [queue(1)], slots: .init(capacity: 100, others: inFlight))
        #expect(count(grants, 1) == granted)
    }

    @Test("classes of one app share by weight: bulk delays normal work by little, and nothing starves")
    func classes() {
        var scheduler = QueueScheduler(policy: .init(criticalReserve: 0))
        let queues = [DeliveryClass.high, .normal, .bulk].enumerated().map { number, deliveryClass in
            SendQueue(id: Int32(number), app: "app", provider: .fcm, deliveryClass: deliveryClass)
        }
        let grants = scheduler.grants(queues: queues, slots: .init(capacity: 70))
        #expect(count(grants, 0) == 40 && count(grants, 1) == 20 && count(grants, 2) == 10)
    }

    @Test("the reserve is there for critical work also when others took more than there are slots now")
    func shrunk() {
        var scheduler = QueueScheduler()
        let grants = scheduler.grants(queues: [queue(1), queue(2, critical: true)], slots: .init(capacity: 50, critical: 3, others: 300))
        #expect(grants == [.init(queue: 2, count: 7)])
    }

    @Test("a single slot serves others too: alone always, next to critical work each ninth time")
    func singleSlot() {
        var scheduler = QueueScheduler()
        #expect(scheduler.grants(queues: [queue(1)], slots: .init(capacity: 1)) == [.init(queue: 1, count: 1)])
        var served: [Int32] = []
        for _ in 0..<18 {
            served += scheduler.grants(queues: [queue(1), queue(2, critical: true)], slots: .init(capacity: 1)).map(\.queue)
        }
        #expect(served.count == 18)
        #expect(served.count { $0 == 1 } == 2)
    }
}
