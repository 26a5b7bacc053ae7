#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A set of keys that answers "certainly not" or "perhaps": a blocked Bloom filter, one cache line a key.
///
/// Keys are digests, so their own bits serve as hashes. 16 bits a key give one wrong "perhaps" in about 900. Filled by one task, then read
/// by any.
final class BloomFilter: @unchecked Sendable {
    /// 512 bits each, at the beginning of a cache line.
    let bytes: UnsafeMutableRawBufferPointer
    private let blocks: UInt64
    private(set) var count: Int

    static let blockBytes = 64
    private static let bitsPerKey = 16
    /// With nine bits of the key each: a word of the block, and a bit of the word.
    private static let probes = 7

    /// - Parameter capacity: so many keys have 16 bits each.
    convenience init(capacity: Int) {
        self.init(blocks: BloomFilter.blocks(forCapacity: capacity), count: 0)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    /// A filter of `count` keys whose `bytes` the caller fills.
    init(blocks: Int, count: Int) {
        self.blocks = UInt64(blocks)
        self.count = count
        let byteCount = blocks * BloomFilter.blockBytes
        // Large ones begin at a huge page where the system has those: each look is then one miss, not two.
        let largePage = 2 << 20
        let isLarge = byteCount >= largePage
        bytes = .allocate(byteCount: byteCount, alignment: isLarge ? largePage : BloomFilter.blockBytes)
        #if os(Linux)
            if isLarge { _ = madvise(bytes.baseAddress, byteCount, MADV_HUGEPAGE) }
        #endif
    }

    deinit { bytes.deallocate() }

    static func blocks(forCapacity count: Int) -> Int { max(1, (count * bitsPerKey + 511) / 512) }
    static func bytes(forCapacity count: Int) -> Int { blocks(forCapacity: count) * blockBytes }

    func insert(_ key: AttemptKey) {
        count += 1
        let block = block(of: key)
        bytes.storeBytes(
            of: bytes.load(fromByteOffset: block, as: SIMD8<UInt64>.self) | BloomFilter.mask(of: key),
            toByteOffset: block,
            as: SIMD8<UInt64>.self
        )
    }

    func mayContain(_ key: AttemptKey) -> Bool { mayContain(block(of: key), mask: BloomFilter.mask(of: key)) }

    /// Which of `keys` it may contain: `found` is called for each. Looks do not wait for each other's cache lines.
    func find(_ keys: [AttemptKey], masks: [SIMD8<UInt64>], _ found: (Int) -> Void) {
        for index in keys.indices where mayContain(block(of: keys[index]), mask: masks[index]) { found(index) }
    }

    /// Without a branch on single bits, which the processor would guess wrong each third time.
    private func mayContain(_ block: Int, mask: SIMD8<UInt64>) -> Bool {
        (mask & ~bytes.load(fromByteOffset: block, as: SIMD8<UInt64>.self)).wrappedSum() == 0
    }

    private func block(of key: AttemptKey) -> Int {
        Int(key.high.multipliedFullWidth(by: blocks).high) * BloomFilter.blockBytes
    }

    /// A key's bits within its block: the same in every filter.
    static func mask(of key: AttemptKey) -> SIMD8<UInt64> {
        var mask = SIMD8<UInt64>()
        var bits = key.low
        for _ in 0..<BloomFilter.probes {
            mask[Int(bits >> 6 & 7)] |= 1 << (bits & 63)
            bits >>= 9
        }
        return mask
    }
}
