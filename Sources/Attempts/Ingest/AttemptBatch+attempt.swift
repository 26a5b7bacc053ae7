package import PushContract

extension AttemptBatch {
    /// Adds an attempt that Pushwatch made itself (a send's outcome, a registration), by the same rules as a reported one; only tokens are
    /// not looked for, since providers' texts come without them.
    package mutating func append(_ attempt: Attempt) throws(AttemptFault) {
        try append { batch throws(AttemptFault) in try batch.record(of: attempt) }
    }

    private mutating func record(of attempt: Attempt) throws(AttemptFault) -> Record {
        try AttemptRules.check(attempt.provider, serves: attempt.platform)
        try AttemptRules.check(hasReason: attempt.reasonCode != nil, for: attempt.status)
        var slots = AttemptSlots()
        for (column, kind) in AttemptColumn.contractKinds {
            switch kind {
            case .text(let rule, let value): slots[column.slot] = try append(value(attempt), rule, column)
            case .optionalText(let rule, let field):
                if let text = field.get(attempt) { slots[column.slot] = try append(text, rule, column) }
            case .optionalInteger(let field):
                if let number = field.get(attempt) {
                    slots[column.slot] = AttemptPiece(try AttemptRules.integer(Int64(number), column))
                }
            case .word, .moment, .key, .labels: break
            }
        }
        let (key, fingerprint) = text.withUnsafeBufferPointer { text in
            func bytes(_ column: AttemptColumn) -> UnsafeBufferPointer<UInt8> {
                let piece = slots[column.slot]
                return UnsafeBufferPointer(rebasing: text[Int(piece.offset)..<Int(piece.offset) + Int(piece.length)])
            }
            let fingerprint = AttemptKey(
                uid: bytes(.uid),
                attempt.platform,
                attempt.provider,
                tokenHash: bytes(.tokenHash),
                attempt.eventType,
                requestId: bytes(.requestId)
            )
            return (AttemptKey(hashing: UnsafeRawBufferPointer(bytes(.attemptId))), fingerprint)
        }
        return Record(
            key: key,
            fingerprint: fingerprint,
            attemptedAt: attempt.attemptedAt,
            platform: attempt.platform,
            provider: attempt.provider,
            eventType: attempt.eventType,
            status: attempt.status,
            reasonCode: attempt.reasonCode,
            environment: attempt.environment,
            slots: slots
        )
    }

    private mutating func append(_ text: String, _ rule: TextRule, _ column: AttemptColumn) throws(AttemptFault) -> AttemptPiece {
        var text = text
        var fault: AttemptFault?
        let piece = text.withUTF8 { bytes -> AttemptPiece in
            do throws(AttemptFault) {
                try rule.check(bytes, column)
                return appendText(bytes)
            } catch {
                fault = error
                return .absent
            }
        }
        if let fault { throw fault }
        return piece
    }
}
