@testable import Attempts

/// One minute's counts, as the rollups would return them.
struct RollupSampleCounts {
    var minute: Int64
    var attempts: Int64
    var bad: Int64

    var counts: RollupCounts { RollupCounts(period: minute, values: [], attempts: attempts, bad: bad) }
}
