package import Attempts
package import Logging
import Postgres
import PushContract

/// Connects sends and registrations to the one way attempts are written.
package enum AttemptRecording {
    /// Writes attempts as the ingestor does, in the transaction of the connection it is given.
    ///
    /// - Parameters:
    ///   - slot: the rollup slot; other than those of the ingestor's writers.
    ///   - hints: of this process.
    ///   - labels: of this process.
    package static func recorder(
        slot: Int16,
        hints: LedgerHints = LedgerHints(),
        labels: LabelLimiter = LabelLimiter(),
        logger: Logger
    ) -> AttemptRecorder {
        let fresh = FreshWriter(hints: hints, slot: slot)
        return { attempts, connection in
            var batch = AttemptBatch()
            let appended = attempts.indices.filter { append(attempts[$0], to: &batch, logger: logger) }
            labels.mark(&batch, author: LabelLimiter.ownAuthor)
            let receivedAt = Timestamp.now()
            if try fresh.write(batch, receivedAt: receivedAt, on: connection) { return }
            let results = try AttemptWriter.write(batch, on: connection, slot: slot, receivedAt: receivedAt, hints: hints)
            for (index, result) in zip(appended, results) {
                let attempt = attempts[index]
                // An unknown outcome contradicts nothing.
                guard case .conflict = result, attempt.providerErrorCode != Attempt.unknownOutcomeCode else { continue }
                logger.error(
                    "an attempt of ours contradicts what is stored under its id; the stored one stays",
                    metadata: names(of: attempt)
                )
            }
        }
    }

    /// What finds the attempt, and the request it came of, in the log and in the database.
    private static func names(of attempt: Attempt) -> Logger.Metadata {
        ["attemptId": "\(attempt.attemptId)", "requestId": "\(attempt.requestId)"]
    }

    /// A provider may answer with something no column takes; then the row is kept without it rather than not at all.
    private static func append(_ attempt: Attempt, to batch: inout AttemptBatch, logger: Logger) -> Bool {
        do throws(AttemptFault) {
            try batch.append(attempt)
            return true
        } catch {
            let fault: Logger.Metadata = ["field": "\(error.field)", "code": "\(error.code)"]
            logger.error("an attempt of ours breaks a rule", metadata: fault.merging(names(of: attempt)) { $1 })
            var minimal = attempt
            minimal.providerErrorCode = nil
            minimal.providerMessageId = nil
            minimal.pushType = nil
            minimal.appVersion = nil
            minimal.latencyMs = nil
            do throws(AttemptFault) {
                try batch.append(minimal)
                return true
            } catch {
                logger.critical("an attempt of ours is lost", metadata: fault.merging(names(of: attempt)) { $1 })
                return false
            }
        }
    }
}
