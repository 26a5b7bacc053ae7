import Foundation
import PushContract

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Filters of frozen generations as files of a local directory: written once, checksummed, loaded at a start.
///
/// A name has the generation's number and moment, so that a file is never taken for a generation of another history. Processes may share a
/// directory; a file that is there is whole, since it gets its name last, and one that is damaged counts as missing.
struct FilterCache: Sendable {
    let directory: String

    /// Bytes read or written before others get their turn.
    private static let chunk = 8 << 20
    private static let suffix = ".filter"

    private struct Header {
        static let format: UInt64 = 0x5057_4C45_4447_3136
        var generation: FrozenGeneration
        var count: Int
        var blocks: Int
        var checksum: UInt64 = 0

        var words: SIMD8<UInt64> {
            SIMD8(
                Header.format.littleEndian,
                UInt64(truncatingIfNeeded: generation.number).littleEndian,
                UInt64(bitPattern: generation.frozenAt.microseconds).littleEndian,
                UInt64(truncatingIfNeeded: count).littleEndian,
                UInt64(truncatingIfNeeded: blocks).littleEndian,
                checksum.littleEndian,
                0,
                0
            )
        }
    }

    /// Filter and number of bytes of a generation's file; nil where there is none that is whole.
    /// - Parameter space: a larger one is not loaded.
    func load(_ generation: FrozenGeneration, space: Int) async -> BloomFilter? {
        guard let file = FileHandle(forReadingAtPath: path(generation)) else { return nil }
        defer { try? file.close() }
        var words = SIMD8<UInt64>()
        let isRead = withUnsafeMutableBytes(of: &words) { FilterCache.fill($0, from: file) }
        guard isRead else { return nil }
        let (count, blocks) = (Int(truncatingIfNeeded: words[3].littleEndian), Int(truncatingIfNeeded: words[4].littleEndian))
        var header = Header(generation: generation, count: count, blocks: blocks, checksum: words[5].littleEndian)
        guard header.words == words, blocks > 0, blocks <= space / BloomFilter.blockBytes,
            let size = try? file.seekToEnd(), size == UInt64((blocks + 1) * BloomFilter.blockBytes),
            (try? file.seek(toOffset: UInt64(BloomFilter.blockBytes))) != nil
        else { return nil }
        let filter = BloomFilter(blocks: blocks, count: count)
        let expected = header.checksum
        header.checksum = 0
        var checksum = Checksum(header.words)
        for start in stride(from: 0, to: filter.bytes.count, by: FilterCache.chunk) {
            let piece = UnsafeMutableRawBufferPointer(rebasing: filter.bytes[start..<min(start + FilterCache.chunk, filter.bytes.count)])
            guard FilterCache.fill(piece, from: file) else { return nil }
            checksum.add(UnsafeRawBufferPointer(piece))
            await Task.yield()
        }
        return checksum.value == expected ? filter : nil
    }

    /// Bytes that a generation's filter takes in memory, as its file says; nil without a file.
    func size(_ generation: FrozenGeneration) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path(generation))
        return (attributes?[.size] as? Int).map { $0 - BloomFilter.blockBytes }
    }

    func store(_ filter: BloomFilter, _ generation: FrozenGeneration) async throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let unfinished = path(generation) + ".\(getpid())"
        let descriptor = open(unfinished, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw lastError }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            var header = Header(generation: generation, count: filter.count, blocks: filter.bytes.count / BloomFilter.blockBytes)
            var checksum = Checksum(header.words)
            try file.write(contentsOf: Data(count: BloomFilter.blockBytes))
            for start in stride(from: 0, to: filter.bytes.count, by: FilterCache.chunk) {
                let piece = UnsafeRawBufferPointer(rebasing: filter.bytes[start..<min(start + FilterCache.chunk, filter.bytes.count)])
                checksum.add(piece)
                try file.write(contentsOf: Data(piece))
                await Task.yield()
            }
            header.checksum = checksum.value
            try file.seek(toOffset: 0)
            try file.write(contentsOf: withUnsafeBytes(of: header.words) { Data($0) })
            try file.synchronize()
            try file.close()
            guard rename(unfinished, path(generation)) == 0 else { throw lastError }
        } catch {
            try? file.close()
            try? FileManager.default.removeItem(atPath: unfinished)
            throw error
        }
    }

    private var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    /// Runs `body` unless another process that shares the directory is in one; returns whether it did.
    func locked(_ body: () async throws -> Void) async throws -> Bool {
        try? FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let lock = open(directory + "/lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        // Without a directory that can be written there is nothing to share.
        defer { if lock >= 0 { close(lock) } }
        if lock >= 0, flock(lock, LOCK_EX | LOCK_NB) != 0 { return false }
        try await body()
        return true
    }

    /// Removes the files of generations that froze before `moment`, and what processes that died have left.
    func removeOlder(than moment: Timestamp) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] {
            let parts = name.split(separator: "-")
            guard parts.count == 3, parts[0] == "ledger", let frozenAt = Int64(parts[2].prefix { $0.isNumber }),
                frozenAt < moment.microseconds
            else { continue }
            try? FileManager.default.removeItem(atPath: directory + "/" + name)
        }
    }

    func path(_ generation: FrozenGeneration) -> String {
        "\(directory)/ledger-\(generation.number)-\(generation.frozenAt.microseconds)\(FilterCache.suffix)"
    }

    private static func fill(_ bytes: UnsafeMutableRawBufferPointer, from file: FileHandle) -> Bool {
        var done = 0
        while done < bytes.count {
            let received = read(file.fileDescriptor, bytes.baseAddress! + done, bytes.count - done)
            if received < 0 && errno == EINTR { continue }
            guard received > 0 else { return false }
            done += received
        }
        return true
    }
}

/// Of what a disk or a copy may damage, not against forgery. In blocks of 64 bytes; each word for itself, so that sums do not wait for
/// each other.
private struct Checksum {
    private var sums: SIMD8<UInt64>

    init(_ first: SIMD8<UInt64>) {
        sums = SIMD8(1, 2, 3, 4, 5, 6, 7, 8)
        withUnsafeBytes(of: first) { add($0) }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        for offset in stride(from: 0, to: bytes.count, by: 64) {
            sums = (sums ^ bytes.loadUnaligned(fromByteOffset: offset, as: SIMD8<UInt64>.self)) &* 0x9E37_79B9_7F4A_7C15
            // A product carries upwards only; this brings its high bits down.
            sums ^= sums &>> 29
        }
    }

    var value: UInt64 { sums.indices.reduce(0) { ($0 ^ sums[$1]) &* 0xFF51_AFD7_ED55_8CCD } }
}
