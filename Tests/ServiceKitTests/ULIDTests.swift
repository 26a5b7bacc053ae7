import PushContract
import Testing

@testable import ServiceKit

@Suite("ULIDs")
struct ULIDTests {
    /// Gives the same number each time.
    private struct Constant: RandomNumberGenerator {
        var value: UInt64
        mutating func next() -> UInt64 { value }
    }

    @Test("the time is in the first ten characters: the example of the specification")
    func time() {
        var random = Constant(value: 0)
        let example = Timestamp(microseconds: 1_469_918_176_385_000)
        #expect(ULID.make(at: example, using: &random) == "01ARYZ6S410000000000000000")
        random.value = .max
        #expect(ULID.make(at: Timestamp(microseconds: 0), using: &random) == "0000000000ZZZZZZZZZZZZZZZZ")
        #expect(ULID.make(at: Timestamp(microseconds: -1), using: &random).hasPrefix("0000000000"))
    }

    @Test("one that is made later sorts later, and two of the same time differ")
    func order() {
        let now = Timestamp(seconds: 1_800_000_000)
        let ids = (0..<1000).map { ULID.make(at: now + .milliseconds($0)) }
        #expect(ids == ids.sorted())
        #expect(ids.allSatisfy { $0.utf8.count == ULID.length })
        #expect(Set((0..<1000).map { _ in ULID.make(at: now) }).count == 1000)
    }
}
