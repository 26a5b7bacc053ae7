import Postgres
import PushContract
import Testing

@testable import LiveActivities

@Suite("Subjects that are new")
struct NewSubjectTests {
    @Test("a match announced at another instance is held with the next look, not with the next renewal of leases")
    func announcedElsewhere() async throws {
        try await LiveBench.with { bench in
            try await bench.run()
            try await bench.phone("ann", "phone", 1)
            try await bench.follow("ann")
            // Written to the database by somebody else, a moment after this process has looked.
            bench.clock.advance(.milliseconds(250))
            try await bench.score(runs: 1)
            try await bench.run(all: false)
            #expect(bench.apns.calls.map(\.event) == ["start"])
        }
    }

    @Test("and so is a changed state of a match that is held: what another instance took in leaves with the next look")
    func changedElsewhere() async throws {
        try await LiveBench.with { bench in
            try await bench.score(runs: 1)
            try await bench.running()
            bench.apns.forget()
            bench.clock.advance(.milliseconds(250))
            try await bench.score(runs: 2)
            try await bench.run(all: false)
            #expect(bench.apns.calls.map(\.event) == ["update"])
        }
    }
}
