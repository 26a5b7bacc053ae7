import CZlib
import Foundation
import Postgres
import PushContract
import TestDatabase
import Testing

@testable import Attempts

@Suite("Importing history")
struct AttemptImporterTests {
    private func line(_ number: Int, at: Timestamp = Sample.now - .seconds(30 * 86_400)) throws -> [UInt8] {
        try Sample.bytes(Sample.json(id: "i-\(number)", at: at - .seconds(Int64(number) * 60))) + [0x0A]
    }

    private func withFile(_ bytes: [UInt8], packed: Bool = false, _ body: (String) async throws -> Void) async throws {
        let path = NSTemporaryDirectory() + "/import-\(UInt64.random(in: 0...UInt64.max)).ndjson" + (packed ? ".gz" : "")
        defer { try? FileManager.default.removeItem(atPath: path) }
        if packed {
            let file = try #require(gzopen(path, "wb"))
            #expect(bytes.withUnsafeBytes { gzwrite(file, $0.baseAddress, UInt32($0.count)) } == Int32(bytes.count))
            gzclose(file)
        } else {
            try Data(bytes).write(to: URL(fileURLWithPath: path))
        }
        try await body(path)
    }

    /// A database and a file with these bytes.
    private func withImport(
        _ bytes: [UInt8],
        packed: Bool = false,
        _ body: (_ store: AttemptDatabase, _ path: String) async throws -> Void
    ) async throws {
        try await withAttempts { store in
            try await withFile(bytes, packed: packed) { path in try await body(store, path) }
        }
    }

    private func importer(_ store: AttemptDatabase) -> AttemptImporter {
        AttemptImporter(pool: store.pool, maintenance: store.maintenance, chunkBytes: 4_096)
    }

    @Test("a file, plain or packed: what is fine is stored and counted, what is not is named with its line", arguments: [false, true])
    func imports(packed: Bool) async throws {
        var bytes: [UInt8] = []
        for number in 0..<100 { bytes += try line(number) }
        bytes += Array("\n{\"broken\n".utf8)
        bytes += try line(1000, at: Sample.now - .seconds(91 * 86_400))
        bytes += try line(100)
        try await withImport(bytes, packed: packed) { store, path in
            var rejects: [AttemptImporter.Reject] = []
            let result = try await importer(store).run(path, onReject: { rejects.append($0) })
            #expect(result.isComplete && result.lines == 104 && result.accepted == 101 && result.rejected == 2)
            #expect(rejects.map(\.line) == [102, 103])
            #expect(rejects.map(\.code) == ["malformed_json", "attempted_at_out_of_range"])
            try await store.expectRollupsEqualRecount(total: 101)
            let again = try await importer(store).run(path)
            #expect(again.accepted == 0 && again.duplicate == 101)
            try await store.expectRollupsEqualRecount(total: 101)
        }
    }

    @Test("each attempt was received when its part of the file was stored, not when the import began")
    func receivedAt() async throws {
        var bytes: [UInt8] = []
        for number in 0..<60 { bytes += try line(number) }
        try await withImport(bytes) { store, path in
            var moment = Sample.now
            var chunks = 0
            let result = try await importer(store).run(
                path: path,
                now: {
                    defer { moment = moment + .seconds(60) }
                    return moment
                },
                onReject: { _ in },
                onProgress: { _ in chunks += 1 }
            )
            #expect(result.accepted == 60 && chunks > 1)
            let rows = try await store.pool.query("SELECT DISTINCT receivedAt FROM notificationDeliveryAttempts ORDER BY 1")
            #expect(try rows.map { try $0.decode(Timestamp.self) } == (1...chunks).map { Sample.now + .seconds(Int64($0) * 60) })
            let imports = try await store.pool.query("SELECT startedAt, finishedAt FROM attemptImports")
            let (startedAt, finishedAt) = try imports[0].decode((Timestamp, Timestamp).self)
            #expect(startedAt == Sample.now && finishedAt == Sample.now + .seconds(Int64(chunks + 1) * 60))
        }
    }

    @Test("a line is counted as an editor counts it, also behind more blank lines than are read at once, and behind a conflict")
    func blankLines() async throws {
        var bytes = try line(0) + Array(repeating: 0x0A, count: 9_000) + line(1)
        bytes += try Sample.bytes(Sample.json(["requestId": "r-2"], id: "i-0")) + [0x0A, 0x0A] + Array("[]\n".utf8)
        try await withImport(bytes) { store, path in
            var rejected: [Int] = []
            let result = try await importer(store).run(path, onReject: { rejected.append($0.line) })
            #expect(result.lines == 9_005 && result.accepted == 2 && result.conflict == 1 && result.rejected == 1)
            #expect(rejected == [9_003, 9_005])
        }
    }

    @Test("a conflict is named with its cause and what to do: other content, or a status that moves sideways")
    func conflicts() async throws {
        var bytes = try line(0)
        bytes += try Sample.bytes(Sample.json(["uid": "u-2", "requestId": "r-2"], id: "i-0")) + [0x0A]
        bytes += try Sample.bytes(Sample.json(["status": "failed", "reasonCode": "network"], id: "i-0")) + [0x0A]
        try await withImport(bytes) { store, path in
            var details: [String] = []
            let result = try await importer(store).run(path, onReject: { details.append($0.detail) })
            #expect(result.accepted == 1 && result.conflict == 2)
            #expect(
                details == [
                    "another attempt is stored under this attemptId, with another uid, requestId; give a new attempt a new attemptId",
                    "the attempt is stored as `sent` and cannot become `failed`; give a new attempt a new attemptId",
                ]
            )
        }
        let byColumns = AttemptConflict.detail(Sample.attempt(status: .sent), stored: Sample.attempt(status: .queued))
        #expect(byColumns.contains("its day by columns, so it no longer becomes `sent`"))
    }

    @Test(
        "one that is stopped goes on where it stood, also packed; each reject comes once; the whole is stored once",
        arguments: [false, true]
    )
    func resumes(packed: Bool) async throws {
        var bytes: [UInt8] = []
        for number in 0..<200 { bytes += number % 50 == 7 ? Array("[\(number)]\n".utf8) : try line(number) }
        try await withImport(bytes, packed: packed) { store, path in
            var rejected: [Int] = []
            var places: [Int] = []
            var rounds = 0
            var isComplete = false
            while !isComplete, rounds < 100 {
                let checkpoint = try await importer(store).checkpoint(of: path)
                #expect((checkpoint == nil) == (rounds == 0))
                places.append(checkpoint?.lines ?? 0)
                var chunks = 0
                let result = try await importer(store).run(
                    path,
                    from: checkpoint,
                    shouldStop: { chunks >= 3 },
                    onReject: { rejected.append($0.line) },
                    onProgress: { _ in chunks += 1 }
                )
                isComplete = result.isComplete
                rounds += 1
                if isComplete {
                    #expect(result.accepted == 196 && result.duplicate == 0 && result.rejected == 4 && result.lines == 200)
                }
            }
            #expect(rounds > 2 && places == places.sorted() && Set(places).count == places.count)
            #expect(rejected == [8, 58, 108, 158])
            #expect(try await importer(store).checkpoint(of: path) == nil, "it went through")
            try await store.expectRollupsEqualRecount(total: 196)
        }
    }

    @Test("one that was killed goes on a few lines before the end of what it stored; nothing is lost or doubled")
    func killed() async throws {
        struct Killed: Error {}
        var bytes: [UInt8] = []
        for number in 0..<200 { bytes += number == 90 ? Array("[]\n".utf8) : try line(number) }
        try await withImport(bytes) { store, path in
            // It dies where it hurts most: after the commit, before the reject is written.
            await #expect(throws: Killed.self) { try await importer(store).run(path, onReject: { _ in throw Killed() }) }
            let checkpoint = try #require(try await importer(store).checkpoint(of: path))
            #expect(checkpoint.lines > 50 && checkpoint.lines <= 90)
            var rejected: [Int] = []
            let result = try await importer(store).run(path, from: checkpoint, onReject: { rejected.append($0.line) })
            #expect(result.isComplete && rejected == [91])
            #expect(result.accepted + result.duplicate == 199 && result.lines == 200)
            try await store.expectRollupsEqualRecount(total: 199)
        }
    }

    @Test("what belongs to the end of an import is stored with it: an import whose end is refused has not ended")
    func refusedEnd() async throws {
        struct Refused: Error {}
        let bytes = try line(1)
        try await withImport(bytes) { store, path in
            let ignore: (AttemptImporter.Reject) -> Void = { _ in }
            await #expect(throws: Refused.self) {
                try await importer(store).run(path: path, now: { Sample.now }, onReject: ignore, onProgress: { _ in }) { _, _ in
                    throw Refused()
                }
            }
            let checkpoint = try #require(try await importer(store).checkpoint(of: path))
            let result = try await importer(store).run(
                path: path,
                from: checkpoint,
                now: { Sample.now },
                onReject: ignore,
                onProgress: { _ in }
            ) { result, connection in
                try connection.execute("UPDATE attemptImports SET fileName = 'ended ' || \(result.lines)::text")
            }
            #expect(result.isComplete && result.lines == 1)
            #expect(try await importer(store).checkpoint(of: path) == nil)
            let name = try await store.pool.query("SELECT fileName FROM attemptImports")[0].decode(String.self)
            #expect(name == "ended 1")
        }
    }

    @Test(
        "a line of megabytes is rejected alone, also at the end of the file, and an import continues behind it",
        arguments: [false, true]
    )
    func longLines(packed: Bool) async throws {
        var bytes: [UInt8] = []
        for number in 1...3 {
            bytes += try line(number)
            bytes += Array(repeating: 0x78, count: 2_500_000)
            if number < 3 { bytes.append(0x0A) }
        }
        try await withImport(bytes, packed: packed) { store, path in
            var rejects: [AttemptImporter.Reject] = []
            var result = AttemptImporter.Progress()
            for isLast in [false, true] {
                var chunks = 0
                let importer = AttemptImporter(pool: store.pool, maintenance: store.maintenance)
                let checkpoint = try await importer.checkpoint(of: path)
                result = try await importer.run(
                    path,
                    from: checkpoint,
                    shouldStop: { !isLast && chunks == 2 },
                    onReject: { rejects.append($0) },
                    onProgress: { _ in chunks += 1 }
                )
                #expect(result.isComplete == isLast)
            }
            #expect(result.lines == 6 && result.accepted == 3 && result.duplicate == 0 && result.rejected == 3)
            #expect(rejects.map(\.line) == [2, 4, 6] && rejects.allSatisfy { $0.code == "item_too_large" })
            #expect(rejects.allSatisfy { $0.detail.contains("at least 1048576 bytes") })
        }
    }

    @Test("a day whose attempts were dropped and whose counts are kept is refused, and imported once its counts are deleted")
    func droppedDay() async throws {
        let (dropped, kept) = (Sample.now - .seconds(30 * 86_400), Sample.now - .seconds(40 * 86_400))
        let bytes = try line(0, at: kept) + line(1, at: dropped) + line(2, at: dropped) + line(3, at: kept)
        try await withImport(bytes) { store, path in
            var rejects: [AttemptImporter.Reject] = []
            func run() async throws -> AttemptImporter.Progress {
                rejects = []
                return try await importer(store).run(path, onReject: { rejects.append($0) })
            }
            let first = try await run()
            #expect(first.accepted == 4)
            // As after a retention of less than 30 days that was raised later, when the ledger has forgotten the ids.
            try await store.pool.execute("DROP TABLE \(raw: PartitionPlan.fact(day: dropped.day).name)")
            try await store.pool.execute("DELETE FROM attemptLedger")
            let refused = try await run()
            #expect(refused.isComplete && refused.accepted == 0 && refused.duplicate == 2 && refused.rejected == 2)
            #expect(rejects.map(\.line) == [2, 3] && rejects.map(\.attemptId) == ["i-1", "i-2"])
            #expect(rejects.allSatisfy { $0.code == "day_already_counted" && $0.detail.contains("2026-02-08") })
            let counted = try await store.pool.query("SELECT sum(attempts)::bigint FROM attemptRollups")[0].decode(Int64.self)
            #expect(counted == 4)

            let day = PartitionPlan.fact(day: dropped.day)
            for table in ["attemptRollups", "attemptLatencies"] {
                try await store.pool.execute("DELETE FROM \(raw: table) WHERE minute >= \(day.from) AND minute < \(day.to)")
            }
            let complete = try await run()
            #expect(complete.accepted == 2 && complete.duplicate == 2 && rejects.isEmpty)
            try await store.expectRollupsEqualRecount(total: 4)
        }
    }

    @Test("history that the ledger has forgotten is known under other stamps: cut to milliseconds, or moved past midnight")
    func otherStamps() async throws {
        let start = Sample.now - .seconds(30 * 86_400) + .microseconds(123_456)
        func file(_ status: String = "queued", stamp: (Timestamp) -> Timestamp = { $0 }) throws -> [UInt8] {
            try (0..<10).flatMap { number -> [UInt8] in
                let at = stamp(start - .seconds(Int64(number) * 60))
                return try Sample.bytes(Sample.json(["status": number == 9 ? status : "sent"], id: "i-\(number)", at: at)) + [0x0A]
            }
        }
        try await withAttempts { store in
            func run(_ bytes: [UInt8]) async throws -> AttemptImporter.Progress {
                var progress = AttemptImporter.Progress()
                try await withFile(bytes) { path in progress = try await importer(store).run(path) }
                for _ in 0..<9 { try await store.rotate() }
                return progress
            }
            #expect(try await run(file()).accepted == 10)
            #expect(try await AttemptStore(store.pool).find(attemptId: "i-0") == nil)
            let cut = try await run(file { Timestamp(microseconds: $0.milliseconds * 1_000) })
            #expect(cut.duplicate == 10 && cut.accepted == 0)
            try await store.expectRollupsEqualRecount(total: 10)

            // The row and its count stay where they were.
            let moved = try await run(file("sent") { $0 + .seconds(13 * 3600) })
            #expect(moved.duplicate == 9 && moved.advanced == 1 && moved.accepted == 0)
            try await store.expectRollupsEqualRecount(total: 10)
            let rows = try await store.pool.query(
                "SELECT attemptedAt, status::text FROM notificationDeliveryAttempts WHERE attemptId = 'i-9'"
            )
            let (at, status) = try rows[0].decode((Timestamp, String).self)
            #expect(rows.count == 1 && at == start - .seconds(540) && status == "sent")
            let fsck = Fsck([IdentityCheck()], pool: store.pool, days: 60, pause: .zero, now: Sample.now)
            #expect(try await fsck.run().faults == [])
        }
    }

    @Test("attempts of a person that lie near each other are looked for in one stretch of time")
    func spans() throws {
        let later = { (hours: Int64) in Sample.now + .seconds(hours * 3600) }
        let batch = try Sample.batch([
            Sample.attempt("a", uid: "u-1", at: later(72)), Sample.attempt("b", uid: "u-1"), Sample.attempt("c", uid: "u-2", at: later(20)),
            Sample.attempt("d", uid: "u-1", at: later(30)), Sample.attempt("e", uid: "u-1", at: later(121)),
        ])
        let spans = PersonSpan.near(batch.records, of: batch).map { span in
            "\(span.uid) \((span.since.seconds - Sample.now.seconds) / 3600) \((span.until.seconds - Sample.now.seconds) / 3600)"
        }
        #expect(spans.sorted() == ["u-1 -24 96", "u-1 97 145", "u-2 -4 44"])
    }

    @Test("a file that has changed is another file; a packed one that was cut off says so")
    func otherFiles() async throws {
        var bytes: [UInt8] = []
        for number in 0..<60 { bytes += try line(number) }
        try await withAttempts { store in
            try await withFile(bytes) { path in
                var chunks = 0
                _ = try await importer(store).run(path, shouldStop: { chunks >= 1 }, onProgress: { _ in chunks += 1 })
                #expect(try await importer(store).checkpoint(of: path) != nil)
                try Data(bytes + line(77)).write(to: URL(fileURLWithPath: path))
                #expect(try await importer(store).checkpoint(of: path) == nil)
            }
            try await withFile(bytes, packed: true) { path in
                let whole = try Data(contentsOf: URL(fileURLWithPath: path))
                try whole.dropLast(40).write(to: URL(fileURLWithPath: path))
                await #expect(throws: LineReader.Failure.self) { try await importer(store).run(path) }
            }
        }
    }
}

extension AttemptImporter {
    /// Imports at the time of the samples.
    fileprivate func run(
        _ path: String,
        from checkpoint: AttemptImporter.Progress? = nil,
        shouldStop: () -> Bool = { false },
        onReject: (AttemptImporter.Reject) throws -> Void = { _ in },
        onProgress: (AttemptImporter.Progress) -> Void = { _ in }
    ) async throws -> AttemptImporter.Progress {
        try await run(
            path: path,
            from: checkpoint,
            now: { Sample.now },
            shouldStop: shouldStop,
            onReject: onReject,
            onProgress: onProgress
        )
    }
}
