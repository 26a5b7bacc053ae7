import Delivery
import PushContract
import Synchronization

extension LiveEngine {
    /// Reads what keeps pushes back or slows them, and takes the turn of trying a refused credential where something waits for it.
    func refreshSendGate(all: Bool, now: Timestamp) async throws {
        let due = state.withLock { state in
            let due = state.sendGateReadAt.map { now - $0 >= .seconds(1) || now < $0 } ?? true
            if due || all { state.sendGateReadAt = now }
            return due || all
        }
        guard due else { return }
        let throttles = try await stores.throttles.current()
        state.withLock { $0.throttles.replace(throttles) }
        try await stores.sends.refresh(pipeline.gate)
        for (circuit, appEnvironment, isWanted) in pipeline.gate.dueProbes(credential: { credential(of: $0) }, now: now) {
            guard isWanted else { continue }
            let interval = CircuitDecision.probeInterval(circuit, random: Double.random(in: 0...1))
            guard try await stores.sends.reserveProbe(circuit, credential: credential(of: appEnvironment), interval: interval) else {
                continue
            }
            pipeline.gate.giveProbe(of: circuit)
        }
    }

    /// Where no request about channels is to be claimed now.
    func blocked(now: Timestamp) -> Set<AppEnvironment> {
        pipeline.gate.blocked(credential: { credential(of: $0) }, now: now)
    }
}
