import Postgres
import Synchronization

/// Flights that have ended and are not ended in the database yet, as their keys were locked when their outcomes were written.
///
/// The dispatcher's rounds end them. If this process ends before, newer deliveries wait until the limit of the flight.
final class EndedFlights: Sendable {
    private struct State {
        var flights: Set<NewestQueries.Ended> = []
        var hasNew = false
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.flights.isEmpty } }
    /// Some were added since they were taken.
    var hasNew: Bool { state.withLock { $0.hasNew } }

    /// - Parameter areNew: false for those that were taken.
    func add(_ flights: [NewestQueries.Ended], areNew: Bool = true) {
        guard !flights.isEmpty else { return }
        state.withLock { state in
            state.flights.formUnion(flights)
            if areNew { state.hasNew = true }
        }
    }

    func take() -> [NewestQueries.Ended] {
        state.withLock { state in
            defer { state = State() }
            return Array(state.flights)
        }
    }
}

extension SendStore {
    /// Ends these flights but for those whose keys are still locked, which are kept.
    func end(_ flights: EndedFlights) async throws {
        let ended = flights.take()
        guard !ended.isEmpty else { return }
        do {
            flights.add(try await pool.performTransaction { try NewestQueries.finish(ended, on: $0).later }, areNew: false)
        } catch {
            flights.add(ended, areNew: false)
            throw error
        }
    }
}
