import AlertRules
import Foundation
import HTTPClient
import Logging
import Postgres
import PushContract
import Synchronization
import TestDatabase
import Testing

@testable import Alerting

@Suite("Escalation, through the notifier")
struct EscalationTests {
    /// A receiver that does not take what it is sent, each in its own way.
    enum Fault: CaseIterable {
        case refused, hanging, serverError, unknown
    }

    /// What each receiver took, in order.
    private final class Wire: Sendable {
        private let faults: Mutex<[String: Fault]>
        private let taken = Mutex<[(message: String, id: String)]>([])

        init(_ faults: [String: Fault] = [:]) { self.faults = Mutex(faults) }

        var all: [String] { taken.withLock { $0.map(\.message) } }
        /// About one alert: what waited for a receiver that is configured again comes, too.
        func all(of id: UUID) -> [String] {
            taken.withLock { $0.filter { $0.id.hasPrefix(id.uuidString.lowercased()) }.map(\.message) }
        }
        func repair() { faults.withLock { $0 = [:] } }

        @Sendable func send(_ request: OutboundRequest) async throws -> OutboundResponse {
            let name = String(request.url.split(separator: "/").last ?? "")
            switch faults.withLock({ $0[name] }) {
            case .refused: throw OutboundFailure(.notWritten, .connect, detail: "connection refused")
            case .hanging: throw OutboundFailure(.unanswered, .timeout, detail: "no answer within 10 s")
            case .serverError: return OutboundResponse(status: 500, headers: [], body: [], latency: .zero)
            case .unknown, nil: break
            }
            let body = (try? JSONSerialization.jsonObject(with: Data(request.body))) as? [String: Any]
            let id = request.headers.first { $0.name == "webhook-id" }?.value ?? ""
            taken.withLock { $0.append(("\(name) \(body?["status"] as? String ?? "?")", id)) }
            return OutboundResponse(status: 200, headers: [], body: Array("ok".utf8), latency: .zero)
        }
    }

    private static func hook(_ name: String) -> ReceiverConfiguration {
        ReceiverConfiguration(WebhookReceiver(name: name, url: "http://hook.example.org/\(name)", secret: nil))
    }

    /// Pages go to a, then to b, then to c; `unconfirmed` is 3 s, `unacknowledged` a minute.
    private static func set(_ configured: [String] = ["a", "b", "c"]) -> ReceiverSet {
        ReceiverSet(
            receivers: configured.map(hook),
            routes: [AlertRoute(receivers: ["a"])],
            escalation: EscalationPolicy(
                unconfirmedAfter: .seconds(3),
                unacknowledgedAfter: .seconds(60),
                steps: [.init(receivers: ["b"]), .init(receivers: ["c"], wait: .seconds(30))]
            )
        )
    }

    private static func notifier(
        _ pool: PostgresPool,
        _ set: ReceiverSet,
        _ clock: ManualClock,
        _ wire: Wire,
        logger: Logger = .silent
    ) -> Notifier {
        Notifier(
            pool: pool,
            receivers: ReceiverRegistry(set, logger: .silent),
            configuration: NotifierConfiguration(externalURL: "https://push.example.org", leaseDuration: .seconds(60)),
            logger: logger,
            now: { clock.now },
            jitter: { 1 },
            send: wire.send
        )
    }

    /// A page to `a`, as the evaluator writes it.
    private func fire(_ pool: PostgresPool, at now: Timestamp, severity: Severity = .page) async throws -> UUID {
        let id = try await TestNotification.fire(receivers: ["a"], severity: severity, recording: .test("t", at: now), on: pool)
        try await pool.execute("UPDATE alerts SET rule = \(id.uuidString) WHERE alertId = \(id)")
        return id
    }

    private func with(
        _ wire: Wire = Wire(),
        severity: Severity = .page,
        _ body: @Sendable @escaping (PostgresPool, Notifier, ManualClock, UUID) async throws -> Void
    ) async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let id = try await fire(pool, at: clock.now, severity: severity)
            try await body(pool, Self.notifier(pool, Self.set(), clock, wire), clock, id)
        }
    }

    private func run(_ notifier: Notifier, _ clock: ManualClock, seconds: Int) async throws {
        for _ in 0..<seconds {
            clock.advance(.seconds(1))
            try await notifier.deliverDue()
        }
    }

    @Test("a page that is accepted and not acknowledged goes to the next receivers, once each, with the reason; its end to all of them")
    func unacknowledged() async throws {
        let wire = Wire()
        try await with(wire) { pool, notifier, clock, id in
            try await notifier.deliverDue()
            try await run(notifier, clock, seconds: 59)
            #expect(wire.all == ["a firing"])
            try await run(notifier, clock, seconds: 1)
            #expect(wire.all == ["a firing", "b firing"])
            let next = try #require(try await EscalationStore.nextStep(of: id, Self.set(), on: pool))
            #expect(next.at == clock.now + .seconds(30) && next.escalation.receivers == ["c"])
            try await run(notifier, clock, seconds: 30)
            #expect(wire.all == ["a firing", "b firing", "c firing"])
            let history = try await EscalationStore.history(of: id, on: pool)
            #expect(history.map(\.receivers) == [["b"], ["c"]])
            #expect(history.map(\.text) == ["step 1: it was not acknowledged in time", "step 2: it was not acknowledged in time"])
            clock.advance(.seconds(600))
            try await notifier.deliverDue()
            try await TestNotification.resolve(id, at: clock.now, on: pool)
            try await notifier.deliverDue()
            clock.advance(.seconds(600))
            try await notifier.deliverDue()
            #expect(wire.all.sorted() == ["a firing", "a resolved", "b firing", "b resolved", "c firing", "c resolved"])
        }
    }

    @Test("the log has the alert's id as other lines have it")
    func logged() async throws {
        try await withDatabase { pool in
            let clock = ManualClock()
            let id = try await fire(pool, at: clock.now)
            let log = RecordingLog { "\($0.message)" == "a page is escalated" }
            let notifier = Self.notifier(pool, Self.set(), clock, Wire(), logger: log.logger)
            try await notifier.deliverDue()
            try await run(notifier, clock, seconds: 60)
            #expect(log.events.map { "\($0.metadata?["alertId"] ?? "")" } == [id.uuidString.lowercased()])
        }
    }

    @Test(
        "an acknowledged, silenced, suppressed or ended page, and a ticket, go to nobody else",
        arguments: [
            "acknowledgedAt = now()", "silencedBy = gen_random_uuid()", #"suppressedBy = '{"alertId": "", "rule": "r", "group": "all"}'"#,
            "state = 'resolved', resolvedAt = now()", "severity = 'ticket'",
        ]
    )
    func stops(_ change: String) async throws {
        let wire = Wire()
        try await with(wire) { pool, notifier, clock, id in
            try await notifier.deliverDue()
            try await pool.execute("UPDATE alerts SET \(raw: change) WHERE alertId = \(id)")
            clock.advance(.seconds(3600))
            try await notifier.deliverDue()
            #expect(wire.all == ["a firing"])
            #expect(try await EscalationStore.nextStep(of: id, Self.set(), on: pool) == nil)
        }
    }

    @Test("a page whose receivers are not configured any more, nor others of its routes, goes to the next ones at once")
    func unknownReceivers() async throws {
        let wire = Wire()
        try await with(wire) { pool, _, clock, _ in
            try await Self.notifier(pool, Self.set(["b", "c"]), clock, wire).deliverDue()
            #expect(wire.all == ["b firing"])
        }
    }

    @Test("two notifiers take a step once")
    func twice() async throws {
        let wire = Wire()
        try await with(wire) { pool, notifier, clock, id in
            clock.advance(.seconds(3))
            let lease = try #require(try await AlertLeaseStore.claim("notifier", holder: "x", for: .seconds(60), on: pool))
            let pass = EscalationPass(pool: pool, lease: lease, receivers: Self.set(), logger: .silent, now: clock.now)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { try await pass.run() } }
                try await group.waitForAll()
            }
            #expect(try await EscalationStore.history(of: id, on: pool).map(\.receivers) == [["b"]])
        }
    }

    @Test("an alert that was muted is escalated as late as one that begins when the silence ends")
    func afterSilence() async throws {
        let wire = Wire()
        try await with(wire) { pool, notifier, clock, id in
            try await pool.execute("UPDATE alerts SET silencedBy = gen_random_uuid() WHERE alertId = \(id)")
            clock.advance(.seconds(3600))
            try await pool.withTransaction { transaction in
                try await transaction.execute("UPDATE alerts SET silencedBy = NULL WHERE alertId = \(id)")
                let lease = AlertLease(name: "t", holder: "t", epoch: 0)
                try await AlertWriter(transaction: transaction, lease: lease, now: clock.now).enqueueMuted(id, receivers: ["a"])
            }
            try await notifier.deliverDue()
            try await run(notifier, clock, seconds: 59)
            #expect(wire.all == ["a firing"])
            try await run(notifier, clock, seconds: 1)
            #expect(wire.all == ["a firing", "b firing"])
        }
    }

    @Test("a step that names a receiver twice notifies it once, and a step that fails keeps no page from being delivered")
    func faults() async throws {
        let wire = Wire()
        try await withDatabase { pool in
            let clock = ManualClock()
            var set = Self.set()
            set.escalation?.steps[0].receivers = ["b", "b"]
            let notifier = Self.notifier(pool, set, clock, wire)
            _ = try await fire(pool, at: clock.now)
            try await notifier.deliverDue()
            try await run(notifier, clock, seconds: 60)
            #expect(wire.all == ["a firing", "b firing"])
            try await pool.execute("ALTER TABLE alertTransitions ADD CHECK (kind <> 'escalated') NOT VALID")
            clock.advance(.seconds(30))
            _ = try await fire(pool, at: clock.now)
            try await notifier.deliverDue()
            #expect(wire.all == ["a firing", "b firing", "a firing"])
        }
    }

    @Test("a page that waited for the end of a silence is confirmed when it is accepted, also by a clock behind that of the evaluator")
    func clocks() async throws {
        try await with { pool, notifier, clock, id in
            try await pool.withTransaction { transaction in
                let lease = AlertLease(name: "t", holder: "t", epoch: 0)
                try await AlertWriter(transaction: transaction, lease: lease, now: clock.now + .seconds(10))
                    .enqueueMuted(id, receivers: ["a"])
            }
            try await notifier.deliverDue()
            #expect(try await EscalationStore.state(of: id, people: ["a", "b"], on: pool)?.isConfirmed == true)
        }
    }

    @Test("whatever receivers are broken and how, a working one has the page within 63 s, nothing comes after the end, and nothing twice")
    func brokenReceivers() async throws {
        try await withDatabase { pool in
            for broken in 0..<8 {
                for (index, _) in Fault.allCases.enumerated() where broken > 0 || index == 0 {
                    try await check(broken: broken, rotation: index, pool)
                }
            }
        }
    }

    /// `broken`: a bit for each receiver; each is broken in another way.
    private func check(broken: Int, rotation: Int, _ pool: PostgresPool) async throws {
        let names = ["a", "b", "c"]
        let faults = Dictionary(
            uniqueKeysWithValues: names.enumerated().filter { broken & (1 << $0.offset) != 0 }
                .map { ($0.element, Fault.allCases[($0.offset + rotation) % Fault.allCases.count]) }
        )
        let working = names.filter { faults[$0] == nil }
        let (wire, clock) = (Wire(faults), ManualClock())
        let notifier = Self.notifier(pool, Self.set(names.filter { faults[$0] != .unknown }), clock, wire)
        let id = try await fire(pool, at: clock.now)
        let start = clock.now
        try await notifier.deliverDue()
        while wire.all(of: id).isEmpty, !working.isEmpty, clock.now - start <= .seconds(63) { try await run(notifier, clock, seconds: 1) }
        let paged = wire.all(of: id)
        #expect(paged.allSatisfy { $0.hasSuffix(" firing") } && paged.isEmpty == working.isEmpty, "\(faults) \(paged)")
        clock.advance(.seconds(120))
        try await notifier.deliverDue()
        try await TestNotification.resolve(id, at: clock.now, on: pool)
        wire.repair()
        for _ in 0..<3 {
            clock.advance(.seconds(600))
            try await notifier.deliverDue()
        }
        let all = wire.all(of: id)
        #expect(Set(all).count == all.count, "\(faults) \(all)")
        for name in names {
            let own = all.filter { $0.hasPrefix(name) }
            #expect(own.isEmpty || own.last == "\(name) resolved", "\(faults) \(all)")
        }
        try await notifier.release()
    }
}
