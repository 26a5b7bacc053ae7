import Crypto
import Foundation
import Postgres
import PushContract

/// How far an import has come; stored in the transactions that store its attempts.
///
/// What a transaction stores is the place before its own lines: their rejects are written to a file after its commit. So a run that
/// broke off repeats its last lines, which are then known.
struct ImportCheckpoint: Sendable {
    var fileKey: AttemptKey
    var fileName: String

    init(path: String) throws {
        fileName = (path as NSString).lastPathComponent
        fileKey = try ImportCheckpoint.key(of: path)
    }

    private static func key(of path: String) throws -> AttemptKey {
        guard let file = FileHandle(forReadingAtPath: path) else { throw LineReader.Failure(description: "\(path) cannot be opened") }
        defer { try? file.close() }
        let size = try file.seekToEnd()
        let piece: UInt64 = 1 << 20
        var hash = SHA256()
        hash.update(data: Data("\(size)\n".utf8))
        try file.seek(toOffset: 0)
        hash.update(data: try file.read(upToCount: Int(piece)) ?? Data())
        try file.seek(toOffset: size > piece ? size - piece : 0)
        hash.update(data: try file.read(upToCount: Int(piece)) ?? Data())
        return hash.finalize().withUnsafeBytes { AttemptKey(bytes: $0) }
    }

    /// How far an import of this file came that did not end; nil when there is none.
    func read(on session: some PostgresSession) async throws -> AttemptImporter.Progress? {
        let rows = try await session.query(
            """
            SELECT bytes, lines, accepted, duplicate, advanced, conflict, rejected FROM attemptImports
            WHERE fileKey = \(fileKey) AND finishedAt IS NULL
            """
        )
        return try rows.first.map { row in
            let (bytes, lines, accepted, duplicate, advanced, conflict, rejected) = try row.decode((Int, Int, Int, Int, Int, Int, Int).self)
            var progress = AttemptImporter.Progress()
            progress.unpackedBytes = bytes
            progress.lines = lines
            progress.accepted = accepted
            progress.duplicate = duplicate
            progress.advanced = advanced
            progress.conflict = conflict
            progress.rejected = rejected
            return progress
        }
    }

    func save(
        _ progress: AttemptImporter.Progress,
        startedAt: Timestamp,
        now: Timestamp,
        on connection: BlockingConnection
    ) throws {
        let finishedAt: Timestamp? = progress.isComplete ? now : nil
        try connection.execute(
            """
            INSERT INTO attemptImports (fileKey, fileName, startedAt, updatedAt, bytes, lines, accepted, duplicate, advanced, conflict,
                rejected, finishedAt)
            VALUES (\(fileKey), \(fileName), \(startedAt), clock_timestamp(), \(progress.unpackedBytes),
                \(progress.lines), \(progress.accepted), \(progress.duplicate), \(progress.advanced), \(progress.conflict),
                \(progress.rejected), \(finishedAt))
            ON CONFLICT (fileKey) DO UPDATE SET fileName = excluded.fileName, updatedAt = excluded.updatedAt, bytes = excluded.bytes,
                lines = excluded.lines, accepted = excluded.accepted, duplicate = excluded.duplicate, advanced = excluded.advanced,
                conflict = excluded.conflict, rejected = excluded.rejected, finishedAt = excluded.finishedAt
            """
        )
    }
}
