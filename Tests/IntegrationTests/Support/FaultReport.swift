import Attempts
import Postgres
import PushContract
import Testing

/// What a fault test ends with: the journal of what was acknowledged against what the database holds, a recount, and fsck.
struct FaultReport {
    /// "kill -9": what was done, and how often.
    var fault: String
    var times: Int
    var load: PostingLoad

    /// Prints the line and expects that nothing acknowledged is missing, doubled or changed.
    func expectNothingLost(on pool: PostgresPool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        // The tables have grown in minutes; without this the checks are planned for empty ones.
        try await pool.analyze()
        let ledger = Ledger(session: pool)
        let acknowledged = load.attempts
        let found = try await ledger.found(acknowledged)
        let mismatches = try await ledger.rollupMismatches()
        let fsck = try await Fsck(pool: pool, pause: .milliseconds(200), now: .now() + .seconds(180)).run()
        print(
            "\(fault): \(times) times, acknowledged \(acknowledged.count), found \(found), mismatches \(mismatches), "
                + "refusals \(load.refusals), resends \(load.resends), fsck \(fsck.isClean ? "clean" : "OFF")"
        )
        #expect(found == acknowledged.count, "acknowledged attempts are missing or changed", sourceLocation: sourceLocation)
        try await ledger.expectConsistent(sourceLocation: sourceLocation)
        for line in fsck.lines where line.faultCount > 0 {
            Issue.record("fsck \(line.check): \(line.faults.prefix(3))", sourceLocation: sourceLocation)
        }
    }
}
