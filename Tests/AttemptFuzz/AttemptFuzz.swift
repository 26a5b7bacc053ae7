import AttemptReference
import Attempts
import Foundation
import PushContract

/// `attempt-fuzz [--seconds N] [--seed N]`: mutated bodies through the parser and the reference, until time is up or they disagree.
///
/// Built with AddressSanitizer by `make fuzz`. A body lies at the end of a page that a forbidden one follows, with exactly the padding
/// the parser asks for in between, so that a read beyond it ends the process also within libraries that are not instrumented.
@main
struct AttemptFuzz {
    static func main() throws {
        let arguments = CommandLine.arguments
        func option(_ name: String, _ standard: UInt64) -> UInt64 {
            arguments.firstIndex(of: name).flatMap { arguments.indices.contains($0 + 1) ? UInt64(arguments[$0 + 1]) : nil } ?? standard
        }
        let seconds = Double(option("--seconds", 600))
        let seed = option("--seed", UInt64.random(in: 1...UInt64(UInt32.max)))
        print("seed \(seed), \(Int(seconds)) s, \(ParserCorpus.all.count) cases in the corpus")

        var run = FuzzRun(seed: seed)
        let start = Date()
        var shown = 0.0
        while true {
            for _ in 0..<200 { try run.step() }
            let passed = Date().timeIntervalSince(start)
            if passed - shown >= 30 {
                shown = passed
                print("\(Int(passed)) s: \(run.summary)")
            }
            if passed >= seconds { break }
        }
        print("done: \(run.summary), no disagreement and no fault of memory; repeat with --seed \(seed)")
    }
}
