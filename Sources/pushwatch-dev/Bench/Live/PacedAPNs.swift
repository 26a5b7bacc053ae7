import CommandLineKit
import LiveActivities
import Providers
import PushContract
import Synchronization

/// APNs inside the process: most tokens answer in milliseconds, some are slow, some dead. Notes how old each state was when it left.
///
/// It costs next to nothing, so that what is measured is Pushwatch and PostgreSQL; requests over the wire are `bench send`'s matter.
final class PacedAPNs: PushProvider {
    struct Tally: Sendable {
        /// Milliseconds from the building of a state to its sending; fast tokens and slow ones.
        var ages: [Double] = []
        var slowAges: [Double] = []
        var updates = 0
        var starts = 0
        var firstStart: ContinuousClock.Instant?
        var lastStart: ContinuousClock.Instant?
        var startTokens: Set<Int> = []
        var repeatedStarts = 0
        /// A state that was sent to a token after a newer one: must stay 0.
        var outOfOrder = 0
        /// Requests to a token while another to it was under way: must stay 0.
        var overlapping = 0
        var newest: [Int: Int64] = [:]
        var underWay: Set<Int> = []
        var built: [Int64: Timestamp] = [:]
    }

    private let state = Mutex(Tally())
    private let slowEvery: Int
    private let deadEvery: Int

    /// - Parameters:
    ///   - slowEvery: each so many-th token answers after three to six seconds.
    ///   - deadEvery: each so many-th token is gone.
    init(slowEvery: Int, deadEvery: Int) {
        self.slowEvery = slowEvery
        self.deadEvery = deadEvery
    }

    var tally: Tally { state.withLock { $0 } }

    func note(_ timestamp: Int64, builtAt: Timestamp) { state.withLock { $0.built[timestamp] = builtAt } }

    func isDead(_ number: Int) -> Bool { number % deadEvery == 7 }
    func isSlow(_ number: Int) -> Bool { number % slowEvery == 3 }

    func send(_ message: PushMessage, to target: PushTarget, attemptId: String, now: Timestamp) async -> PushOutcome {
        let number = LiveFixture.number(of: target.token)
        let bytes = message.payload?.bytes ?? []
        let isStart = target.token.hasPrefix("b")
        let sentAt = Timestamp.now()
        state.withLock { tally in
            if isStart {
                tally.starts += 1
                tally.firstStart = tally.firstStart ?? .now
                tally.lastStart = .now
                if !tally.startTokens.insert(number).inserted { tally.repeatedStarts += 1 }
                return
            }
            tally.updates += 1
            if !tally.underWay.insert(number).inserted { tally.overlapping += 1 }
            let stamp = PacedAPNs.timestamp(bytes)
            if stamp < tally.newest[number] ?? 0 { tally.outOfOrder += 1 }
            tally.newest[number] = stamp
            guard let builtAt = tally.built[stamp] else { return }
            let age = (sentAt - builtAt).inSeconds * 1000
            if isSlow(number) { tally.slowAges.append(age) } else { tally.ages.append(age) }
        }
        try? await Task.sleep(for: isSlow(number) && !isStart ? .milliseconds(3000 + number % 3000) : .milliseconds(5 + number % 20))
        if !isStart { state.withLock { _ = $0.underWay.remove(number) } }
        guard isDead(number), !isStart else { return .sent(messageId: "bench", httpStatus: 200, latency: .milliseconds(5)) }
        let gone = ReasonMapping.apns(status: 410, reason: "Unregistered")
        return .failed(gone, code: "Unregistered", detail: "gone", httpStatus: 410)
    }

    /// The payload begins with `{"aps":{"timestamp":`.
    private static func timestamp(_ bytes: [UInt8]) -> Int64 {
        bytes.dropFirst(20).prefix { (0x30...0x39).contains($0) }.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
