import Attempts
package import Devices
package import Logging
import Postgres
import PushContract

/// Connects sends and registrations to the one way attempts are written.
package enum AttemptRecording {
    /// Writes attempts through `AttemptWriter`, in the transaction of the connection it is given.
    ///
    /// - Parameter slot: the rollup slot; other than those of the ingestor's writers.
    package static func recorder(slot: Int16, logger: Logger) -> AttemptRecorder {
        { attempts, connection in
            var batch = AttemptBatch()
            for attempt in attempts { append(attempt, to: &batch, logger: logger) }
            let results = try AttemptWriter.write(batch, on: connection, slot: slot, receivedAt: .now())
            for case .conflict in results {
                logger.error("an attempt of ours contradicts what is stored under its id; the stored one stays")
            }
        }
    }

    /// A provider may answer with something no column takes; then the row is kept without it rather than not at all.
    private static func append(_ attempt: Attempt, to batch: inout AttemptBatch, logger: Logger) {
        do throws(AttemptFault) {
            try batch.append(attempt)
        } catch {
            logger.error("an attempt of ours breaks a rule", metadata: ["field": "\(error.field)", "code": "\(error.code)"])
            var bare = attempt
            bare.providerErrorCode = nil
            bare.providerMessageId = nil
            bare.pushType = nil
            bare.appVersion = nil
            bare.latencyMs = nil
            do throws(AttemptFault) {
                try batch.append(bare)
            } catch {
                logger.critical("an attempt of ours is lost", metadata: ["field": "\(error.field)", "code": "\(error.code)"])
            }
        }
    }
}
