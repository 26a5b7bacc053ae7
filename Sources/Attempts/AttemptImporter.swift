package import Postgres
package import PushContract

/// Brings older history in from an NDJSON file, plain or gzip. Idempotent: a second run adds nothing, so a broken one is simply repeated.
///
/// Older than the API accepts is fine, up to the retention of facts. The same checks, ledger and rollups as for everybody.
package struct AttemptImporter: Sendable {
    /// How far an import has come.
    package struct Progress: Sendable, Equatable {
        package var lines = 0
        package var accepted = 0
        package var duplicate = 0
        package var advanced = 0
        package var conflict = 0
        package var rejected = 0
        /// Bytes of the file read, as stored.
        package var bytes = 0
    }

    /// One line that was not stored.
    package struct Reject: Sendable {
        package var line: Int
        package var attemptId: String?
        package var code: String
        package var detail: String
    }

    private let pool: PostgresPool
    private let keeper: PartitionKeeper
    private let plan: PartitionPlan
    private let slot: Int16

    package init(pool: PostgresPool, keeper: PartitionKeeper, plan: PartitionPlan = PartitionPlan(), slot: Int16 = 1000) {
        self.pool = pool
        self.keeper = keeper
        self.plan = plan
        self.slot = slot
    }

    /// Imports a file. Rejected lines are handed to `onReject`, in order; the others are stored.
    package func run(
        path: String,
        now: Timestamp,
        onReject: (Reject) throws -> Void,
        onProgress: (Progress) -> Void
    ) async throws -> Progress {
        let reader = try LineReader(path: path)
        let parser = AttemptParser()
        let window = AcceptanceWindow.history(now: now, retention: .seconds(plan.factRetentionDays * 86_400))
        var progress = Progress()
        while var chunk = try reader.next() {
            let length = chunk.count
            chunk.append(contentsOf: repeatElement(0, count: AttemptParser.padding))
            let parsed: AttemptParser.Parsed
            do throws(AttemptParser.BodyFault) {
                parsed = try chunk.parseLines(parser, length: length, window: window)
            } catch {
                // Only blank lines.
                continue
            }
            let results = try await store(parsed.batch, now: now)
            for rejection in parsed.rejections {
                try onReject(
                    Reject(
                        line: progress.lines + rejection.index + 1,
                        attemptId: rejection.attemptId,
                        code: rejection.fault.code,
                        detail: rejection.fault.detail
                    )
                )
            }
            for (place, result) in results.enumerated() {
                if case .conflict = result {
                    let line = progress.lines + parsed.indices[place] + 1
                    let id = parsed.batch[place].attemptId
                    try onReject(
                        Reject(line: line, attemptId: id, code: "attempt_conflict", detail: "other content is stored under this attemptId")
                    )
                }
            }
            progress.add(parsed, results, bytes: reader.storedOffset)
            onProgress(progress)
        }
        return progress
    }

    private func store(_ batch: AttemptBatch, now: Timestamp) async throws -> [AttemptResult] {
        guard !batch.isEmpty else { return [] }
        try await keeper.ensurePartitions(for: batch)
        return try await pool.withRetriedBatch { connection in
            try AttemptWriter.write(batch, on: connection, slot: slot, receivedAt: now, checksOldFacts: true)
        }
    }
}

extension AttemptImporter.Progress {
    fileprivate mutating func add(_ parsed: AttemptParser.Parsed, _ results: [AttemptResult], bytes: Int) {
        lines += parsed.itemCount
        rejected += parsed.rejections.count
        self.bytes = bytes
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

extension PostgresPool {
    /// A synchronous transaction in one hop, run again after conflicts and lost connections; for idempotent work.
    package func withRetriedBatch<Value: Sendable>(
        attempts: Int = 5,
        _ body: @escaping @Sendable (BlockingConnection) throws -> Value
    ) async throws -> Value {
        var failures = 0
        while true {
            do {
                return try await withConnection { try await $0.perform { try $0.transaction(body) } }
            } catch let error as PostgresError where failures + 1 < attempts && (error.isSerializationConflict || error.isConnectionLoss) {
                failures += 1
                try await Task.sleep(for: .milliseconds(Int.random(in: 10...30) << failures))
            }
        }
    }
}
