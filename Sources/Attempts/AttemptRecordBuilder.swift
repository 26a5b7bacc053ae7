import PushContract

/// Checks the values of one item by the contract's rules (design: "The attempt contract") and packs them into a batch.
///
/// It reads from wherever the values come: the JSON parser or an `Attempt`. The first fault ends the item; nothing is repaired.
struct AttemptRecordBuilder {
    /// One value as its source has it.
    enum Value {
        case absent
        case null
        case text(UnsafeBufferPointer<UInt8>)
        case integer(Int64)
        case other

        var isMissing: Bool {
            switch self {
            case .absent, .null: true
            default: false
            }
        }
    }

    /// From when to when `attemptedAt` is accepted.
    let window: AcceptanceWindow

    func append(
        to batch: inout AttemptBatch,
        _ value: (AttemptField) -> Value
    ) throws(AttemptFault) {
        let mark = batch.byteCountOfText
        do {
            let record = try build(in: &batch, value)
            batch.append(record)
        } catch {
            batch.truncateText(to: mark)
            throw error
        }
    }

    private func build(in batch: inout AttemptBatch, _ value: (AttemptField) -> Value) throws(AttemptFault) -> AttemptBatch.Record {
        let attemptId = try required(.attemptId, value)
        try FieldRules.visibleASCII(attemptId, .attemptId)
        let uid = try required(.uid, value)
        try FieldRules.characters(uid, .uid, 1...256)
        let platform: Platform = try enumerated(.platform, value)
        let provider: Provider = try enumerated(.provider, value)
        guard provider.serves(platform) else {
            throw AttemptFault(
                "invalid_combination",
                .provider,
                "provider `apns` implies platform `ios`, and platform `web` implies provider `fcm`; got `\(provider)` with `\(platform)`"
            )
        }
        let tokenHash = try required(.tokenHash, value)
        try FieldRules.tokenHash(tokenHash)
        let eventType: EventType = try enumerated(.eventType, value)
        let status: AttemptStatus = try enumerated(.status, value)
        let reasonCode = try reason(for: status, value)
        let attemptedAt = try moment(value)
        let requestId = try required(.requestId, value)
        try FieldRules.visibleASCII(requestId, .requestId)

        var record = AttemptBatch.Record(
            key: AttemptKey(hashing: UnsafeRawBufferPointer(attemptId)),
            fingerprint: fingerprint(uid: uid, platform, provider, tokenHash: tokenHash, eventType, requestId: requestId),
            attemptedAt: attemptedAt,
            platform: platform,
            provider: provider,
            eventType: eventType,
            status: status,
            reasonCode: reasonCode,
            environment: value(.environment).isMissing ? nil : try enumerated(.environment, value),
            latencyMs: try latency(value),
            attemptId: batch.appendText(attemptId),
            uid: batch.appendText(uid),
            tokenHash: batch.appendText(tokenHash),
            requestId: batch.appendText(requestId)
        )
        record.providerErrorCode = try optional(.providerErrorCode, 0...200, value, into: &batch)
        record.app = try optional(.app, 1...200, value, into: &batch)
        record.pushType = try optional(.pushType, 1...200, value, into: &batch)
        record.appVersion = try optional(.appVersion, 1...200, value, into: &batch)
        record.providerMessageId = try optional(.providerMessageId, 1...200, value, into: &batch)
        if !value(.sendId).isMissing {
            let sendId = try required(.sendId, value)
            try FieldRules.visibleASCII(sendId, .sendId)
            record.sendId = batch.appendText(sendId)
        }
        return record
    }

    private func required(_ field: AttemptField, _ value: (AttemptField) -> Value) throws(AttemptFault) -> UnsafeBufferPointer<UInt8> {
        switch value(field) {
        case .text(let text): return text
        case .absent, .null: throw AttemptFault("missing_field", field, "`\(field.name)` is required")
        case .integer, .other: throw AttemptFault("invalid_type", field, "`\(field.name)` must be a string")
        }
    }

    private func optional(
        _ field: AttemptField,
        _ length: ClosedRange<Int>,
        _ value: (AttemptField) -> Value,
        into batch: inout AttemptBatch
    ) throws(AttemptFault) -> AttemptBatch.Piece {
        if value(field).isMissing { return .absent }
        let text = try required(field, value)
        try FieldRules.characters(text, field, length)
        return batch.appendText(text)
    }

    private func enumerated<Member: Spelled>(
        _ field: AttemptField,
        _ value: (AttemptField) -> Value
    ) throws(AttemptFault) -> Member {
        let text = try required(field, value)
        for member in Member.allCases where member.spelling.isSpelled(text) { return member }
        let known = Member.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        throw AttemptFault("invalid_value", field, "`\(field.name)` must be one of \(known)")
    }

    private func reason(for status: AttemptStatus, _ value: (AttemptField) -> Value) throws(AttemptFault) -> ReasonCode? {
        if status.carriesReason {
            guard !value(.reasonCode).isMissing else {
                throw AttemptFault("missing_field", .reasonCode, "`reasonCode` is required when `status` is `\(status)`")
            }
            return try enumerated(.reasonCode, value)
        }
        guard value(.reasonCode).isMissing else {
            throw AttemptFault(
                "invalid_combination",
                .reasonCode,
                "`reasonCode` belongs to `failed` and `deactivated`; leave it out (or null) when `status` is `\(status)`"
            )
        }
        return nil
    }

    private func moment(_ value: (AttemptField) -> Value) throws(AttemptFault) -> Timestamp {
        let text = try required(.attemptedAt, value)
        guard let moment = Timestamp(rfc3339Bytes: text) else {
            throw AttemptFault(
                "invalid_value",
                .attemptedAt,
                "`attemptedAt` must be an RFC 3339 date-time with an offset, such as 2026-02-12T09:30:00.25Z"
            )
        }
        try window.check(moment)
        return moment
    }

    private func latency(_ value: (AttemptField) -> Value) throws(AttemptFault) -> Int32? {
        switch value(.latencyMs) {
        case .absent, .null: return nil
        case .integer(let milliseconds):
            guard let narrow = Int32(exactly: milliseconds), narrow >= 0 else {
                throw AttemptFault("invalid_value", .latencyMs, "`latencyMs` must be between 0 and 2147483647")
            }
            return narrow
        case .text, .other: throw AttemptFault("invalid_type", .latencyMs, "`latencyMs` must be a whole number of milliseconds")
        }
    }

    /// Digest of the fields that may never differ for one attemptId, each followed by a separator none of them can hold.
    private func fingerprint(
        uid: UnsafeBufferPointer<UInt8>,
        _ platform: Platform,
        _ provider: Provider,
        tokenHash: UnsafeBufferPointer<UInt8>,
        _ eventType: EventType,
        requestId: UnsafeBufferPointer<UInt8>
    ) -> AttemptKey {
        // One update of one block: each call into the digest costs more than the bytes.
        withUnsafeTemporaryAllocation(byteCount: uid.count + tokenHash.count + requestId.count + 64, alignment: 1) { block in
            var count = 0
            func add(_ part: UnsafeBufferPointer<UInt8>) {
                UnsafeMutableRawBufferPointer(rebasing: block[count...]).copyMemory(from: UnsafeRawBufferPointer(part))
                block[count + part.count] = 0
                count += part.count + 1
            }
            add(uid)
            add(UnsafeBufferPointer(platform))
            add(UnsafeBufferPointer(provider))
            add(tokenHash)
            add(UnsafeBufferPointer(eventType))
            add(requestId)
            return AttemptKey(hashing: UnsafeRawBufferPointer(rebasing: block[..<count]))
        }
    }
}

extension AttemptBatch {
    fileprivate var byteCountOfText: Int { text.count }
}
