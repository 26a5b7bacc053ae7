/// A set of keys that answers "certainly not" or "perhaps": a blocked Bloom filter, one cache line a key.
///
/// Keys are digests, so their own bits serve as hashes. About 12 bits a key give one wrong "perhaps" in 200.
struct BloomFilter: Sendable {
    /// 512 bits each.
    private var words: [UInt64]
    private let blocks: UInt64
    private(set) var count = 0

    private static let wordsPerBlock = 8
    private static let bitsPerKey = 12
    private static let probes = 6

    init(capacity: Int) {
        let blocks = max(1, (capacity * BloomFilter.bitsPerKey + 511) / 512)
        self.blocks = UInt64(blocks)
        words = Array(repeating: 0, count: blocks * BloomFilter.wordsPerBlock)
    }

    var byteCount: Int { words.count * 8 }
    static func bytes(forCapacity count: Int) -> Int { count * bitsPerKey / 8 + 64 }

    mutating func insert(_ key: AttemptKey) {
        count += 1
        let base = block(of: key)
        var bits = key.low
        for _ in 0..<BloomFilter.probes {
            words[base + Int(bits >> 6 & 7)] |= 1 << (bits & 63)
            bits >>= 9
        }
    }

    func mayContain(_ key: AttemptKey) -> Bool {
        if count == 0 { return false }
        let base = block(of: key)
        var bits = key.low
        for _ in 0..<BloomFilter.probes {
            if words[base + Int(bits >> 6 & 7)] & 1 << (bits & 63) == 0 { return false }
            bits >>= 9
        }
        return true
    }

    private func block(of key: AttemptKey) -> Int {
        Int(key.high.multipliedFullWidth(by: blocks).high) * BloomFilter.wordsPerBlock
    }
}
