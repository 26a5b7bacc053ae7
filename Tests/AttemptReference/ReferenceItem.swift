import PushContract

/// The rules of one item's fields, one after the other, each fault noted.
struct ReferenceItem {
    let values: [String: ReferenceJSON]
    private var faults: Set<ReferenceReader.Fault> = []

    init(values: [String: ReferenceJSON]) { self.values = values }

    mutating func read(earliest: Timestamp, latest: Timestamp) -> ReferenceReader.Item {
        let attemptId = visible("attemptId", isRequired: true)
        let uid = text("uid", 1...256, isRequired: true)
        let platform = word("platform", ["ios", "android", "web"], isRequired: true)
        let provider = word("provider", ["apns", "fcm"], isRequired: true)
        // That `web` implies `fcm` follows.
        if let platform, provider == "apns", ["android", "web"].contains(platform) { fault("invalid_combination", "provider") }
        let hash = tokenHash()
        let eventType = word("eventType", ["register", "unregister", "send"], isRequired: true)
        let status = word("status", ["queued", "sent", "failed", "deactivated"], isRequired: true)
        let reason = reasonCode(status)
        let code = text("providerErrorCode", 0...200)
        if let reason, let code, let provider, status == "failed" || status == "deactivated" { checkMapping(reason, code, provider) }
        let at = moment(earliest, latest)
        let requestId = visible("requestId", isRequired: true)
        let app = text("app", 1...200)
        let environment = word("environment", ["production", "sandbox"])
        let pushType = text("pushType", 1...200)
        let appVersion = text("appVersion", 1...200)
        let messageId = text("providerMessageId", 1...200)
        let latency = latencyMs()
        let sendId = visible("sendId")
        if let hash { checkTokens(hash) }
        guard faults.isEmpty, let attemptId, let uid, let platform, let provider, let hash, let eventType, let status, let at,
            let requestId,
            let platform = Platform(rawValue: platform), let provider = Provider(rawValue: provider),
            let tokenHash = TokenHash(rawValue: hash), let eventType = EventType(rawValue: eventType),
            let status = AttemptStatus(rawValue: status)
        else { return .faults(faults) }
        return .attempt(
            Attempt(
                attemptId: attemptId,
                uid: uid,
                platform: platform,
                provider: provider,
                tokenHash: tokenHash,
                eventType: eventType,
                status: status,
                reasonCode: reason.flatMap(ReasonCode.init),
                providerErrorCode: code,
                attemptedAt: at,
                requestId: requestId,
                app: app,
                environment: environment.flatMap(PushEnvironment.init),
                pushType: pushType,
                appVersion: appVersion,
                providerMessageId: messageId,
                latencyMs: latency,
                sendId: sendId
            )
        )
    }

    private mutating func fault(_ code: String, _ field: String) { faults.insert(.init(code, field)) }

    private mutating func string(_ field: String, isRequired: Bool) -> String? {
        switch values[field] {
        case .string(let text): return text
        case nil:
            if isRequired { fault("missing_field", field) }
            return nil
        default:
            fault("invalid_type", field)
            return nil
        }
    }

    /// 1 to 200 characters from ! to ~.
    private mutating func visible(_ field: String, isRequired: Bool = false) -> String? {
        guard let text = string(field, isRequired: isRequired) else { return nil }
        let scalars = text.unicodeScalars
        if scalars.isEmpty || scalars.count > 200 || !scalars.allSatisfy({ ("!"..."~").contains($0) }) { fault("invalid_value", field) }
        return text
    }

    /// A number of characters, none of them a control character by Unicode's own classes.
    private mutating func text(_ field: String, _ length: ClosedRange<Int>, isRequired: Bool = false) -> String? {
        guard let text = string(field, isRequired: isRequired) else { return nil }
        let scalars = text.unicodeScalars
        if !length.contains(scalars.count) || scalars.contains(where: { $0.properties.generalCategory == .control }) {
            fault("invalid_value", field)
        }
        return text
    }

    private mutating func word(_ field: String, _ words: [String], isRequired: Bool = false) -> String? {
        guard let text = string(field, isRequired: isRequired) else { return nil }
        // By bytes: Swift's == would call different spellings of one character equal.
        if !words.contains(where: { Array($0.utf8) == Array(text.utf8) }) { fault("invalid_value", field) }
        return text
    }

    private mutating func tokenHash() -> String? {
        guard let text = string("tokenHash", isRequired: true) else { return nil }
        guard text.utf8.starts(with: "sha256:".utf8) else {
            fault("raw_token", "tokenHash")
            return text
        }
        let digits = text.unicodeScalars.dropFirst(7)
        if digits.count != 64 || !digits.allSatisfy({ "0123456789abcdef".unicodeScalars.contains($0) }) {
            fault("invalid_value", "tokenHash")
        }
        return text
    }

    /// What looks like a token is refused where nothing long is expected; the attempt's own token is refused everywhere.
    private mutating func checkTokens(_ hash: String) {
        for field in ["app", "appVersion", "pushType", "providerErrorCode", "providerMessageId"] {
            if case .string(let text) = values[field], !ReferenceToken.runs(in: text).isEmpty { fault("raw_token", field) }
        }
        for field in ["attemptId", "uid", "requestId", "sendId"] {
            guard case .string(let text) = values[field] else { continue }
            if ReferenceToken.runs(in: text).contains(where: { ReferenceToken.hashes(of: $0).contains(hash) }) { fault("raw_token", field) }
        }
    }

    private mutating func reasonCode(_ status: String?) -> String? {
        let needsReason = status == "failed" || status == "deactivated"
        if values["reasonCode"] == nil {
            if needsReason { fault("missing_field", "reasonCode") }
            return nil
        }
        guard needsReason else {
            fault("invalid_combination", "reasonCode")
            return nil
        }
        return word("reasonCode", ["token_invalid", "token_not_registered", "provider_5xx", "network", "auth", "unknown"])
    }

    /// By the table of the seed and its continuation, row by row.
    private mutating func checkMapping(_ reason: String, _ code: String, _ provider: String) {
        let sources: [ProviderCode.Source] = provider == "apns" ? [.provider(.apns)] : [.provider(.fcm), .firebaseAdmin]
        let rows = ProviderCode.table.filter { sources.contains($0.source) && Array($0.code.utf8) == Array(code.utf8) }
        guard let own = rows.first?.classification?.reasonCode.rawValue, own != reason else { return }
        if code == "INVALID_ARGUMENT", reason == "token_invalid" { return }
        fault("reason_code_mismatch", "reasonCode")
    }

    private mutating func moment(_ earliest: Timestamp, _ latest: Timestamp) -> Timestamp? {
        guard let text = string("attemptedAt", isRequired: true) else { return nil }
        guard let moment = ReferenceDate.read(text) else {
            fault("invalid_value", "attemptedAt")
            return nil
        }
        if moment < earliest || moment > latest { fault("attempted_at_out_of_range", "attemptedAt") }
        return moment
    }

    private mutating func latencyMs() -> Int32? {
        switch values["latencyMs"] {
        case nil: return nil
        case .integer(let value):
            if !(0...2_147_483_647).contains(value) { fault("invalid_value", "latencyMs") }
            return Int32(truncatingIfNeeded: value)
        default:
            fault("invalid_type", "latencyMs")
            return nil
        }
    }
}
