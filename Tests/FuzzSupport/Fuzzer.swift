import Foundation

/// A fuzzer as a program: `NAME [--seconds N] [--seed N]`. The same seed makes the same run; the first fault ends it with 1.
package protocol Fuzzer {
    init(seed: UInt64)

    /// What was done so far, with counts.
    var summary: String { get }

    /// One input.
    mutating func step() throws
}

/// What a fuzzer found.
package struct FuzzFault: Error, CustomStringConvertible {
    package let description: String

    /// - Parameter input: printed in base64.
    package init(_ what: String, input: [UInt8]) {
        description = "\(what)\nthe input, in base64: \(Data(input).base64EncodedString())"
    }
}

extension Fuzzer {
    package static func main() {
        let seconds = Double(option("--seconds") ?? 600)
        let seed = option("--seed") ?? UInt64.random(in: 1...UInt64(UInt32.max))
        print("\(Self.self): seed \(seed), \(Int(seconds)) s")
        var fuzzer = Self(seed: seed)
        let start = Date()
        var shown = 0.0
        var passed = 0.0
        while passed < seconds {
            do {
                for _ in 0..<100 { try fuzzer.step() }
            } catch {
                print("FAULT \(error)\nafter \(fuzzer.summary); repeat with --seed \(seed)")
                exit(1)
            }
            passed = Date().timeIntervalSince(start)
            guard passed - shown >= 30 else { continue }
            shown = passed
            print("\(Int(passed)) s: \(fuzzer.summary)")
        }
        print("done: \(fuzzer.summary); no fault; repeat with --seed \(seed)")
    }

    private static func option(_ name: String) -> UInt64? {
        let arguments = CommandLine.arguments
        guard let place = arguments.firstIndex(of: name), arguments.indices.contains(place + 1) else { return nil }
        return UInt64(arguments[place + 1])
    }
}
