package import Postgres
package import PushContract

/// Brings older history in from an NDJSON file, plain or gzip. Idempotent, and it stores its checkpoint: an interrupted import continues
/// there, and a repeated one adds nothing.
///
/// Older than the API accepts is fine, up to the retention of facts. The same checks, ledger and rollups as for reports.
package struct AttemptImporter: Sendable {
    /// How far an import has come.
    package struct Progress: Sendable, Equatable {
        /// Of the file, with blank ones.
        package var lines = 0
        package var accepted = 0
        package var duplicate = 0
        package var advanced = 0
        package var conflict = 0
        package var rejected = 0
        /// Bytes of the file read, as stored.
        package var bytes = 0
        /// Bytes of lines that have been taken in.
        var unpackedBytes = 0
        /// The end of the file was reached.
        package var isComplete = false
    }

    /// Why a file cannot be read on. What was read before is stored.
    package struct FileFailure: Error, CustomStringConvertible {
        package var description: String
    }

    /// One line that was not stored.
    package struct Reject: Sendable {
        package var line: Int
        package var attemptId: String?
        package var code: String
        package var detail: String
    }

    private let pool: PostgresPool
    private let maintenance: PartitionMaintenance
    private let plan: PartitionPlan
    private let slot: Int16
    private let chunkBytes: Int
    /// Of the import alone: the running instances count by themselves.
    private let labels: LabelLimiter

    package init(
        pool: PostgresPool,
        maintenance: PartitionMaintenance,
        plan: PartitionPlan = PartitionPlan(),
        slot: Int16 = 1000,
        chunkBytes: Int = 1 << 20,
        labels: LabelLimiter = LabelLimiter()
    ) {
        self.pool = pool
        self.maintenance = maintenance
        self.plan = plan
        self.slot = slot
        self.chunkBytes = chunkBytes
        self.labels = labels
    }

    /// Where an import of this file stopped that did not reach its end.
    package func checkpoint(of path: String) async throws -> Progress? {
        try await ImportCheckpoint(path: path).read(on: pool)
    }

    /// Imports a file. Rejected lines are handed to `onReject`, in order; the others are stored.
    ///
    /// - Parameters:
    ///   - start: a checkpoint that `checkpoint(of:)` gave; what lies before it is passed over.
    ///   - now: the clock: at the start for what is accepted, then for each transaction, so that attempts have the moment they were stored.
    ///   - shouldStop: asked between transactions. True ends the import; a later one goes on from there.
    ///   - onEnd: stores what belongs to the end of the import, in its last transaction.
    package func run(
        path: String,
        from start: Progress? = nil,
        now: () -> Timestamp,
        shouldStop: () -> Bool = { false },
        onReject: (Reject) throws -> Void,
        onProgress: (Progress) -> Void,
        onEnd: @escaping @Sendable (Progress, BlockingConnection) throws -> Void = { _, _ in }
    ) async throws -> Progress {
        let checkpoint = try ImportCheckpoint(path: path)
        let reader = try LineReader(path: path, from: start?.unpackedBytes ?? 0, chunkBytes: chunkBytes)
        let parser = AttemptParser()
        let startedAt = now()
        let window = AcceptanceWindow.history(now: startedAt, retention: .seconds(plan.factRetentionDays * 86_400))
        var progress = start ?? Progress()
        while !shouldStop(), var chunk = try reader.next() {
            let length = chunk.count
            chunk.append(contentsOf: repeatElement(0, count: AttemptParser.padding))
            var parsed: AttemptParser.Parsed
            do throws(AttemptParser.BodyFault) {
                parsed = try chunk.parseLines(parser, length: length, window: window)
            } catch {
                // Only blank lines.
                progress.lines += chunk[..<length].count { $0 == 0x0A }
                progress.unpackedBytes = reader.offset
                continue
            }
            let counted = try await maintenance.daysWithoutAttempts(of: Set(parsed.batch.records.map(\.attemptedAt.day)))
            parsed.reject(days: counted)
            labels.mark(&parsed.batch, author: "import")
            let results = try await store(parsed.batch, checkpoint: checkpoint, progress: progress, startedAt: startedAt, now: now())
            // Of this moment: the alert is about the last hour, and an import may take longer.
            try await FoldedLabelStore.add(labels.takeFolds(), at: .now(), on: pool)
            for reject in rejects(parsed, results, after: progress.lines) { try onReject(reject) }
            progress.add(parsed, results, bytes: reader.storedOffset, unpackedBytes: reader.offset)
            onProgress(progress)
        }
        progress.isComplete = reader.isAtEnd
        let (last, end) = (progress, now())
        // Not again after a lost commit: `onEnd` need not be idempotent.
        try await pool.performTransaction { connection in
            try checkpoint.save(last, startedAt: startedAt, now: end, on: connection)
            try onEnd(last, connection)
        }
        return progress
    }

    private func rejects(_ parsed: AttemptParser.Parsed, _ results: [AttemptResult], after lines: Int) -> [Reject] {
        var rejects = parsed.rejections.map {
            Reject(line: lines + parsed.lines[$0.index] + 1, attemptId: $0.attemptId, code: $0.fault.code, detail: $0.fault.detail)
        }
        for (index, result) in results.enumerated() {
            guard case .conflict(let stored) = result else { continue }
            let attempt = parsed.batch[index]
            rejects.append(
                Reject(
                    line: lines + parsed.lines[parsed.indices[index]] + 1,
                    attemptId: attempt.attemptId,
                    code: "attempt_conflict",
                    detail: AttemptConflict.detail(attempt, stored: stored)
                )
            )
        }
        return rejects.sorted { $0.line < $1.line }
    }

    private func store(
        _ batch: AttemptBatch,
        checkpoint: ImportCheckpoint,
        progress: Progress,
        startedAt: Timestamp,
        now: Timestamp
    ) async throws -> [AttemptResult] {
        if !batch.isEmpty { try await maintenance.ensurePartitions(for: batch) }
        return try await pool.performTransaction(retrying: .idempotent) { connection in
            try checkpoint.save(progress, startedAt: startedAt, now: now, on: connection)
            return try AttemptWriter.write(batch, on: connection, slot: slot, receivedAt: now, checksOldFacts: true)
        }
    }
}

extension AttemptParser.Parsed {
    /// Rejects the attempts of these days, which the rollups count already.
    fileprivate mutating func reject(days: Set<Int64>) {
        let rejected = Set(batch.records.indices.filter { days.contains(batch.records[$0].attemptedAt.day) })
        guard !rejected.isEmpty else { return }
        for index in rejected.sorted() {
            let day = PartitionPlan.date(batch.records[index].attemptedAt.day)
            let fault = AttemptFault(
                "day_already_counted",
                .attemptedAt,
                "the attempts of \(day) (UTC) were dropped and the counts of that day kept, "
                    + "so it would count twice; to import it, delete its counts first (docs/operations.md#partitions-and-retention)"
            )
            rejections.append(AttemptParser.Rejection(index: indices[index], attemptId: batch[index].attemptId, fault: fault))
        }
        batch.remove(at: rejected)
        indices = indices.enumerated().filter { !rejected.contains($0.offset) }.map(\.element)
    }
}

extension AttemptImporter.Progress {
    fileprivate mutating func add(_ parsed: AttemptParser.Parsed, _ results: [AttemptResult], bytes: Int, unpackedBytes: Int) {
        lines += parsed.lineCount
        rejected += parsed.rejections.count
        self.bytes = bytes
        self.unpackedBytes = unpackedBytes
        for result in results {
            switch result {
            case .accepted: accepted += 1
            case .duplicate: duplicate += 1
            case .advanced: advanced += 1
            case .conflict: conflict += 1
            }
        }
    }
}

extension [UInt8] {
    fileprivate func parseLines(
        _ parser: AttemptParser,
        length: Int,
        window: AcceptanceWindow
    ) throws(AttemptParser.BodyFault) -> AttemptParser.Parsed {
        var result: Swift.Result<AttemptParser.Parsed, AttemptParser.BodyFault>?
        withUnsafeBytes { bytes in
            do throws(AttemptParser.BodyFault) {
                result = .success(try parser.parseLines(bytes, length: length, window: window, itemLimit: .max))
            } catch {
                result = .failure(error)
            }
        }
        guard let result else { throw .empty }
        return try result.get()
    }
}
