package import HTTPServer
import PushContract

/// What is asked of reported attempts beyond the values of their fields.
package struct ReportRules: Sendable {
    /// Corrects a reason code that is not the mapping's; otherwise the attempt is refused.
    var normalizes: Bool
    /// An app's user, who may report registrations of their own `uid` only.
    package var user: String?
    /// Whose attempts a key may report; nil for every app's, which is all that is looked at then.
    var apps: Set<String>?

    package init(normalizes: Bool = false, user: String? = nil, apps: KeyApps = .all) {
        self.normalizes = normalizes
        self.user = user
        self.apps = apps.names.map { Set($0) }
    }

    func check(uid: UnsafeBufferPointer<UInt8>, _ eventType: EventType) throws(AttemptFault) {
        guard let user else { return }
        guard uid.elementsEqual(user.utf8) else {
            throw AttemptFault("not_yours", .uid, "`uid` must be your own: an app's user reports their own attempts")
        }
        guard eventType != .send else {
            throw AttemptFault(
                "not_yours",
                .eventType,
                "`eventType` must be `register` or `unregister`: sends are reported with an API key"
            )
        }
    }

    /// What the caller may see of the results: an app's user not the attempts that others have reported under the same ids.
    func visible(_ results: [AttemptResult]) -> [AttemptResult] {
        guard let user else { return results }
        return results.map { result in
            guard case .conflict(let stored?) = result, !stored.uid.utf8.elementsEqual(user.utf8) else { return result }
            return .conflict(stored: nil)
        }
    }

    func check(app: AttemptRecordBuilder.Value) throws(AttemptFault) {
        guard let apps else { return }
        if case .text(let app) = app, apps.contains(where: { $0.utf8.elementsEqual(app) }) { return }
        throw ReportRules.appNotAllowed(.app, "`app` is missing, or another", apps)
    }

    static func appNotAllowed(_ column: AttemptColumn, _ reason: String, _ apps: Set<String>) -> AttemptFault {
        let names = apps.sorted().map { "`\($0)`" }.joined(separator: " or ")
        return AttemptFault("app_not_allowed", column, "\(reason): this API key may write for \(names) only")
    }

    /// The reason code to store.
    func reasonCode(
        _ reported: ReasonCode,
        with code: UnsafeBufferPointer<UInt8>,
        from provider: Provider
    ) throws(AttemptFault) -> ReasonCode {
        let code = String(decoding: code, as: UTF8.self)
        guard let known = ProviderCode.reasonCodes(of: code, provider: provider), let own = known.first, !known.contains(reported) else {
            return reported
        }
        guard normalizes else {
            throw AttemptFault(
                "reason_code_mismatch",
                .reasonCode,
                "`reasonCode` must be `\(own.rawValue)` where `providerErrorCode` is `\(code)`; got `\(reported.rawValue)`"
            )
        }
        return own
    }
}
