import PushContract
import Delivery
import Synchronization

extension LiveEngine {
    /// Reads what keeps pushes back or slows them, and takes the turn of trying a refused credential where something waits for it.
    func lookAtStandstill(all: Bool, now: Timestamp) async throws {
        let due = state.withLock { state in
            let due = state.standstillAt.map { now - $0 >= .seconds(1) || now < $0 } ?? true
            if due || all { state.standstillAt = now }
            return due || all
        }
        guard due else { return }
        let throttles = try await stores.throttles.current()
        state.withLock { $0.throttles.replace(throttles) }
        standstill.replace(holds: try await stores.sends.holds(), pauses: try await stores.sends.pauses())
        for (hold, place, isWanted) in standstill.due(credential: { credential(of: $0) }, now: now) {
            guard isWanted ? true : try await stores.starts.isWaiting(at: place, now: now) else { continue }
            let interval = HoldDecision.probeInterval(hold, random: Double.random(in: 0...1))
            guard try await stores.sends.takeProbeTurn(hold, credential: credential(of: place), interval: interval) else { continue }
            standstill.giveProbe(of: hold, at: place)
        }
    }

    /// Where nothing is to be claimed now, and whether a single try is wanted.
    func blocked(now: Timestamp) -> (places: Set<LivePlace>, hasProbes: Bool) {
        standstill.blocked(credential: { credential(of: $0) }, now: now)
    }
}
