package import PushContract

extension AttemptBatch {
    /// Adds an attempt that Pushwatch made itself (a send's outcome, a registration), by the same rules as everybody's.
    package mutating func append(_ attempt: Attempt) throws(AttemptFault) {
        var failure: AttemptFault?
        withTexts(of: attempt) { batch, value in
            do throws(AttemptFault) {
                try AttemptRecordBuilder(window: .unbounded).append(to: &batch, value)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Lays the attempt's strings out as bytes for the builder.
    private mutating func withTexts(
        of attempt: Attempt,
        _ body: (inout AttemptBatch, (AttemptField) -> AttemptRecordBuilder.Value) -> Void
    ) {
        var block: [UInt8] = []
        var ranges: [Range<Int>?] = Array(repeating: nil, count: AttemptField.allCases.count)
        func add(_ field: AttemptField, _ text: String?) {
            guard let text else { return }
            let start = block.count
            block.append(contentsOf: text.utf8)
            ranges[field.rawValue] = start..<block.count
        }
        add(.attemptId, attempt.attemptId)
        add(.uid, attempt.uid)
        add(.platform, attempt.platform.rawValue)
        add(.provider, attempt.provider.rawValue)
        add(.tokenHash, attempt.tokenHash.rawValue)
        add(.eventType, attempt.eventType.rawValue)
        add(.status, attempt.status.rawValue)
        add(.reasonCode, attempt.reasonCode?.rawValue)
        add(.providerErrorCode, attempt.providerErrorCode)
        add(.attemptedAt, attempt.attemptedAt.rfc3339)
        add(.requestId, attempt.requestId)
        add(.app, attempt.app)
        add(.environment, attempt.environment?.rawValue)
        add(.pushType, attempt.pushType)
        add(.appVersion, attempt.appVersion)
        add(.providerMessageId, attempt.providerMessageId)
        add(.sendId, attempt.sendId)
        block.withUnsafeBufferPointer { bytes in
            body(&self) { field in
                if field == .latencyMs { return attempt.latencyMs.map { .integer(Int64($0)) } ?? .absent }
                guard let range = ranges[field.rawValue] else { return .absent }
                return .text(UnsafeBufferPointer(rebasing: bytes[range]))
            }
        }
    }
}
