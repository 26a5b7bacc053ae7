import CZlib
import Foundation

/// Reads a file in chunks of whole lines. A gzip file, which zlib recognises by its first bytes, is unpacked.
///
/// Not `Sendable`: one reader, one task.
final class LineReader {
    private let file: gzFile
    private var rest: [UInt8] = []
    private let chunkBytes: Int
    /// A longer line loses its middle and keeps at least so many bytes: enough for the parser to reject it for its length.
    static let longestLine = 1 << 20

    typealias Failure = AttemptImporter.FileFailure

    /// Where the next line begins, in the unpacked text.
    private(set) var offset: Int
    private(set) var isAtEnd = false

    /// - Parameter start: an `offset` of before; it must be the beginning of a line.
    init(path: String, from start: Int = 0, chunkBytes: Int = 1 << 20) throws {
        guard let file = gzopen(path, "rb") else {
            throw Failure(description: "\(path) cannot be opened: \(String(cString: strerror(errno)))")
        }
        self.file = file
        self.chunkBytes = chunkBytes
        offset = start
        gzbuffer(file, 1 << 18)
        guard start == 0 || gzseek(file, start, SEEK_SET) == start else {
            throw Failure(description: "\(path) ends before the place where the last import stopped")
        }
    }

    deinit { gzclose(file) }

    /// Bytes of the file as stored (packed, if it is packed) read so far, for progress.
    var storedOffset: Int { Int(gzoffset(file)) }

    /// The next lines, about a megabyte of them; nil at the end.
    func next() throws -> [UInt8]? {
        let lines = try read()
        offset += lines?.count ?? 0
        if lines == nil { isAtEnd = true }
        return lines
    }

    private func read() throws -> [UInt8]? {
        var chunk = rest
        rest = []
        while true {
            let start = chunk.count
            chunk.append(contentsOf: repeatElement(0, count: chunkBytes))
            let read = chunk.withUnsafeMutableBytes { gzread(file, $0.baseAddress! + start, UInt32(chunkBytes)) }
            guard read >= 0 else { throw Failure(description: "the file is damaged: \(message())") }
            chunk.removeLast(chunkBytes - Int(read))
            if read == 0 {
                // gzread also stops quietly at the end of a gzip file that was cut off.
                guard gzeof(file) == 1, gzclearedError() else { throw Failure(description: "the file is cut off") }
                return chunk.isEmpty ? nil : chunk
            }
            if let end = chunk.lastIndex(of: 0x0A) {
                rest = Array(chunk[(end + 1)...])
                chunk.removeSubrange((end + 1)...)
                return chunk
            }
            // One line, or the part of it that is kept.
            let excess = max(0, chunk.count - LineReader.longestLine)
            chunk.removeLast(excess)
            offset += excess
        }
    }

    private func message() -> String {
        var code: Int32 = 0
        return gzerror(file, &code).map { String(cString: $0) } ?? "unknown error"
    }

    private func gzclearedError() -> Bool {
        var code: Int32 = 0
        _ = gzerror(file, &code)
        return code == Z_OK || code == Z_STREAM_END
    }
}
