import PushContract

/// Checks the values of one parsed item by the contract's rules (design: "The attempt contract") and packs them into a batch.
///
/// The first fault ends the item; nothing is repaired.
struct AttemptRecordBuilder {
    /// One value as the parser found it.
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
    var rules = ReportRules()

    func append(to batch: inout AttemptBatch, _ value: (AttemptColumn) -> Value) throws(AttemptFault) {
        try batch.append { batch throws(AttemptFault) in try build(in: &batch, value) }
    }

    private func build(in batch: inout AttemptBatch, _ value: (AttemptColumn) -> Value) throws(AttemptFault) -> AttemptBatch.Record {
        let attemptId = try required(.attemptId, value)
        let uid = try required(.uid, value)
        let platform: Platform = try enumerated(.platform, value)
        let provider: Provider = try enumerated(.provider, value)
        try AttemptRules.check(provider, serves: platform)
        let tokenHash = try required(.tokenHash, value)
        let eventType: EventType = try enumerated(.eventType, value)
        try rules.check(uid: uid, eventType)
        if rules.apps != nil { try rules.check(app: value(.app)) }
        let status: AttemptStatus = try enumerated(.status, value)
        try AttemptRules.check(hasReason: !value(.reasonCode).isMissing, for: status)
        let reasonCode = status.carriesReason ? try reasonCode(provider, value) : nil
        let attemptedAt = try moment(value)
        let requestId = try required(.requestId, value)
        let key = AttemptKey(hashing: UnsafeRawBufferPointer(attemptId))
        try check(attemptId: attemptId, key, against: tokenHash)
        try TextRule.check(uid, .uid, against: tokenHash)
        try TextRule.check(requestId, .requestId, against: tokenHash)

        var slots = AttemptSlots()
        slots[AttemptColumn.attemptId.slot] = batch.appendText(attemptId)
        slots[AttemptColumn.uid.slot] = batch.appendText(uid)
        slots[AttemptColumn.tokenHash.slot] = batch.appendText(tokenHash)
        slots[AttemptColumn.requestId.slot] = batch.appendText(requestId)
        for column in AttemptColumn.optionals { slots[column.slot] = try optional(column, value(column), tokenHash, into: &batch) }
        return AttemptBatch.Record(
            key: key,
            fingerprint: AttemptKey(uid: uid, platform, provider, tokenHash: tokenHash, eventType, requestId: requestId),
            attemptedAt: attemptedAt,
            platform: platform,
            provider: provider,
            eventType: eventType,
            status: status,
            reasonCode: reasonCode,
            environment: value(.environment).isMissing ? nil : try enumerated(.environment, value),
            slots: slots
        )
    }

    /// The usual attemptId is 64 hex digits, and its key is the beginning of its SHA-256: nothing is hashed a second time.
    private func check(
        attemptId: UnsafeBufferPointer<UInt8>,
        _ key: AttemptKey,
        against tokenHash: UnsafeBufferPointer<UInt8>
    ) throws(AttemptFault) {
        guard attemptId.count == 64, attemptId.allSatisfy({ $0 < 0x41 || $0 > 0x5A }) else {
            return try TextRule.check(attemptId, .attemptId, against: tokenHash)
        }
        guard !key.begins(tokenHash) else { throw TextRule.rawToken(.attemptId) }
    }

    private func reasonCode(_ provider: Provider, _ value: (AttemptColumn) -> Value) throws(AttemptFault) -> ReasonCode {
        let reported: ReasonCode = try enumerated(.reasonCode, value)
        guard case .text(let code) = value(.providerErrorCode) else { return reported }
        return try rules.reasonCode(reported, with: code, from: provider)
    }

    private func required(_ column: AttemptColumn, _ value: (AttemptColumn) -> Value) throws(AttemptFault) -> UnsafeBufferPointer<UInt8> {
        let text = try text(column, value(column))
        try column.rule?.check(text, column)
        return text
    }

    private func text(_ column: AttemptColumn, _ value: Value) throws(AttemptFault) -> UnsafeBufferPointer<UInt8> {
        switch value {
        case .text(let text): return text
        case .absent, .null: throw AttemptFault("missing_field", column, "`\(column.name)` is required")
        case .integer, .other: throw AttemptFault("invalid_type", column, "`\(column.name)` must be a string")
        }
    }

    private func optional(
        _ column: AttemptColumn,
        _ value: Value,
        _ tokenHash: UnsafeBufferPointer<UInt8>,
        into batch: inout AttemptBatch
    ) throws(AttemptFault) -> AttemptPiece {
        if value.isMissing { return .absent }
        if let rule = column.rule {
            let text = try text(column, value)
            try rule.check(text, column)
            try TextRule.check(text, column, against: tokenHash)
            return batch.appendText(text)
        }
        guard case .integer(let number) = value else {
            throw AttemptFault("invalid_type", column, "`\(column.name)` must be a whole number of milliseconds")
        }
        return AttemptPiece(try AttemptRules.integer(number, column))
    }

    private func enumerated<Member: Spelled>(
        _ column: AttemptColumn,
        _ value: (AttemptColumn) -> Value
    ) throws(AttemptFault) -> Member {
        let text = try text(column, value(column))
        for member in Member.allCases where member.spelling.isSpelled(text) { return member }
        let known = Member.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
        throw AttemptFault("invalid_value", column, "`\(column.name)` must be one of \(known)")
    }

    private func moment(_ value: (AttemptColumn) -> Value) throws(AttemptFault) -> Timestamp {
        guard let moment = Timestamp(rfc3339Bytes: try text(.attemptedAt, value(.attemptedAt))) else {
            throw AttemptFault(
                "invalid_value",
                .attemptedAt,
                "`attemptedAt` must be an RFC 3339 date-time with an offset, such as 2026-02-12T09:30:00.25Z"
            )
        }
        try window.check(moment)
        return moment
    }
}
