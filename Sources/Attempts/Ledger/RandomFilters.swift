package import Postgres

/// Filters of full generations without the keys, for measuring: their answers come as often as those of real ones, and none is wrong, since
/// a filter only ever says "perhaps" too often.
package enum RandomFilters {
    /// Writes a file for each frozen generation but the newest `real` ones.
    package static func write(keys: Int, real: Int, to directory: String, pool: PostgresPool) async throws {
        let generations = try await LedgerGenerations.read(on: pool)
        for generation in generations.frozen.dropFirst(real) {
            try Task.checkCancellation()
            let filter = BloomFilter(blocks: BloomFilter.blocks(forCapacity: keys), count: keys)
            var generator = SystemRandomNumberGenerator()
            // Three of eight bits, as seven bits a key make of sixteen.
            let random = (0..<3 << 10).map { _ in generator.next() as UInt64 }
            filter.bytes.withMemoryRebound(to: UInt64.self) { words in
                for index in words.indices {
                    let hash = UInt64(truncatingIfNeeded: index) &* 0x9E37_79B9_7F4A_7C15
                    let (a, b, c) = (Int(hash >> 54), Int(hash >> 44 & 1023), Int(hash >> 34 & 1023))
                    words[index] = random[a] & (random[1024 + b] | random[2048 + c])
                }
            }
            try await FilterCache(directory: directory).store(filter, generation)
        }
    }
}
