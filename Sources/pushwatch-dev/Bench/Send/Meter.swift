import Foundation

/// Processor and wall time since it was made.
struct Meter {
    private let processor = Meter.processorSeconds(RUSAGE_SELF)
    private let started = ContinuousClock.now

    func slice(answered: Int, failed: Int, failure: String?) -> ClientBench.Slice {
        ClientBench.Slice(
            perCoreSecond: Double(answered) / max(0.001, Meter.processorSeconds(RUSAGE_SELF) - processor),
            perSecond: Double(answered) / max(0.001, (ContinuousClock.now - started) / .seconds(1)),
            failed: failed,
            failure: failure
        )
    }

    /// User and system, of this process or of its children that have ended.
    static func processorSeconds(_ whose: __rusage_who) -> Double {
        var use = rusage()
        getrusage(__rusage_who_t(whose.rawValue), &use)
        let micros = Double(use.ru_utime.tv_usec + use.ru_stime.tv_usec)
        return Double(use.ru_utime.tv_sec + use.ru_stime.tv_sec) + micros / 1e6
    }
}
