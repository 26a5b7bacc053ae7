import FuzzSupport

/// Mutated bodies through the parser and the reference, until time is up or they disagree.
///
/// Built with AddressSanitizer by `make fuzz`. A body lies at the end of a page that a forbidden one follows, with exactly the padding
/// the parser asks for in between, so that a read beyond it ends the process also within libraries that are not instrumented.
@main
struct AttemptFuzz: Fuzzer {
    private var run: FuzzRun

    init(seed: UInt64) { run = FuzzRun(seed: seed) }

    var summary: String { run.summary }

    mutating func step() throws { try run.step() }
}
